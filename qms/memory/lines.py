"""Encodes entries as JSON lines and decodes them; bytes from outside are read strictly."""

import json
import re
from collections import Counter
from typing import Any, NoReturn

import msgspec

from qms.memory.entry import Header
from qms.memory.errors import InvalidInputError
from qms.memory.limits import Limits

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(dict[str, Any])
_header_decoder = msgspec.json.Decoder(Header)
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")

_SHOWN = 128
"""At most this many characters of a key are shown in a message."""

encode_line = _encoder.encode
"""Return a document as one line of compact UTF-8 JSON, without its newline."""

decode_line = _decoder.decode
"""Return the document of a line that this server wrote or has checked before."""

decode_header = _header_decoder.decode
"""Return the header of a line that this server wrote or has checked before."""


def read_strictly(data: bytes, limits: Limits) -> Any:
    """Return the JSON value in bytes that come from outside.

    Raises:
        InvalidInputError: not UTF-8, not JSON, a duplicate key, NaN or an infinity, half of a
            surrogate pair, or deeper than the limit; the message says which.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"not UTF-8 at byte {error.start}", reason="encoding") from None
    try:
        value = _strict_decoder.decode(text)
    except RecursionError:
        raise _too_deep(limits) from None
    except json.JSONDecodeError as error:
        what = error.msg.removesuffix(" at")
        raise InvalidInputError(
            f"not JSON: {what} at column {error.colno}", reason="syntax"
        ) from None
    except ValueError as error:
        raise InvalidInputError(f"not a number JSON can carry: {error}", reason="number") from None
    if not _is_shallow(data, limits):
        _walk_depth(value, limits)
    if _SURROGATE_ESCAPE.search(data):
        _check_surrogates(value)
    return value


def check_depth(value: Any, limits: Limits) -> int:
    """Return the size of a value as JSON, in bytes.

    Raises:
        InvalidInputError: it is deeper than the limit.
    """
    try:
        data = _encoder.encode(value)
    except RecursionError:
        raise _too_deep(limits) from None
    if not _is_shallow(data, limits):
        _walk_depth(value, limits)
    return len(data)


def _is_shallow(data: bytes, limits: Limits) -> bool:
    """Say whether JSON has too few brackets to exceed the depth limit."""
    return data.count(b"{") + data.count(b"[") <= limits.json_depth


def _walk_depth(value: Any, limits: Limits) -> None:
    level = _containers([value])
    for _ in range(limits.json_depth):
        level = [child for item in level for child in _containers(_children(item))]
        if not level:
            return
    raise _too_deep(limits)


def _containers(items: list[Any]) -> list[Any]:
    return [item for item in items if isinstance(item, dict | list)]


def _children(container: Any) -> list[Any]:
    return list(container.values()) if isinstance(container, dict) else container


def _too_deep(limits: Limits) -> InvalidInputError:
    return InvalidInputError(
        f"JSON is nested deeper than {limits.json_depth} levels (limit jsonDepth)",
        limit="jsonDepth",
        maximum=limits.json_depth,
        reason="depth",
    )


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        counts = Counter(key for key, _ in pairs)
        twice = next(key for key, count in counts.items() if count > 1)
        raise InvalidInputError(
            f"the key {twice[:_SHOWN]!r} appears twice in one object",
            field=twice[:_SHOWN],
            reason="duplicateKey",
        )
    return result


def _refuse(constant: str) -> NoReturn:
    raise InvalidInputError(f"{constant} is not a JSON number", reason="number")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise InvalidInputError(f"{text[:32]} is too large a number", reason="number")
    return number


def _check_surrogates(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidInputError(
            "a text has half of a surrogate pair, which UTF-8 cannot encode", reason="encoding"
        ) from None


_strict_decoder = json.JSONDecoder(
    object_pairs_hook=_without_duplicates, parse_constant=_refuse, parse_float=_finite
)
