"""JSON answers, encoded once, with the headers that every one of them carries."""

from typing import Any

import msgspec
from starlette.responses import Response

HEADERS = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}

_encoder = msgspec.json.Encoder()


def json_answer(
    content: Any, *, status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    """Return a value as a JSON response."""
    return Response(
        _encoder.encode(content),
        status_code=status,
        headers={**HEADERS, **(headers or {})},
        media_type="application/json",
    )
