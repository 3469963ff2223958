"""Request bodies: JSON only, read no further than the size limit."""

from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request

from qms.memory.errors import InvalidInputError, TooLargeError
from qms.memory.limits import Limits
from qms.memory.lines import read_strictly

_MEDIA_TYPE = "application/json"


async def read_body(request: Request, limits: Limits, *, limit: str) -> bytes:
    """Return the body of a JSON request; `limit` names the setting that bounds its size.

    Raises:
        HTTPException: it is of another media type, or compressed.
        TooLargeError: it is longer than the limit, by its header or as it arrives.
    """
    _check_media_type(request)
    maximum = limits.import_bytes if limit == "importBytes" else limits.body_bytes
    return await _read(request, maximum, limit)


def parse_object(body: bytes, limits: Limits) -> dict[str, Any]:
    """Return the body, parsed as a JSON object.

    Raises:
        InvalidInputError: it is not a single JSON object.
    """
    value = read_strictly(body, limits)
    if not isinstance(value, dict):
        raise InvalidInputError("the body must be a JSON object", field="body")
    return value


def _check_media_type(request: Request) -> None:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if media_type != _MEDIA_TYPE or encoding != "identity":
        raise HTTPException(415)


async def _read(request: Request, maximum: int, limit: str) -> bytes:
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > maximum:
        raise over_limit(maximum, limit)
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > maximum:
            raise over_limit(maximum, limit)
        chunks.append(chunk)
    return b"".join(chunks)


def over_limit(maximum: int, limit: str) -> TooLargeError:
    """Return the error for a body that exceeds the named limit."""
    return TooLargeError(
        f"the body is over the limit {limit} of {maximum} bytes",
        field="body",
        limit=limit,
        maximum=maximum,
    )
