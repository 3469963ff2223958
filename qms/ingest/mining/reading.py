"""Reading frames: bytes to values of one type, and to conversations by the rules of a format."""

import re
from collections.abc import Callable, Iterator
from typing import TypeVar

import msgspec

from qms.ingest.exports import Export
from qms.ingest.mining.conversation import Found, Problem
from qms.ingest.mining.frames import Frame, Lost, frame

T = TypeVar("T")
ReadFrame = Callable[[Frame, str], Iterator[Found]]

_SURROGATES = re.compile(
    rb"\\\\"  # an escaped backslash: what follows it is text
    rb"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)


def read_values(export: Export, *, whole: ReadFrame, part: ReadFrame) -> Iterator[Found]:
    """Yield what each value of an export is read as; `part` reads one message of a large one."""
    for member in export.members:
        for framed in frame(export.chunks(member)):
            if isinstance(framed, Lost):
                yield Problem(member.name, framed.offset, framed.reason)
            else:
                yield from (whole if framed.part_of is None else part)(framed, member.name)


def decode(data: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    """Return the value of a frame; what is no Unicode in it becomes the replacement character.

    Raises:
        ValueError: it is not JSON, or not of this type.
    """
    try:
        return decoder.decode(data)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        # JavaScript writes half a character without complaint; msgspec refuses to read it.
        whole = _SURROGATES.sub(_mended, data.decode("utf-8", "replace").encode())
    try:
        return decoder.decode(whole)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(str(error)) from None


def _mended(found: re.Match[bytes]) -> bytes:
    return rb"\ufffd" if found["half"] else found[0]
