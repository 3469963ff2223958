"""JSON and text responses, each encoded once."""

from typing import Any

import msgspec
from starlette.responses import Response

from qms.commands.answers import Rendered, Spoken

encode = msgspec.json.Encoder().encode
"""Return a value as JSON; stored lines inside it are copied, not encoded again."""


def json_answer(
    content: Any, *, status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    """Return a value, or the bytes that it was encoded to, as a JSON response."""
    return Response(
        content if isinstance(content, bytes) else encode(content),
        status_code=status,
        headers=headers,
        media_type="application/json",
    )


def command_answer(value: Any) -> Response:
    """Return what a command answered: JSON, or the text that it was rendered to."""
    if isinstance(value, Rendered):
        return Response(value.text, media_type="text/plain")
    return json_answer(value.content if isinstance(value, Spoken) else value)
