"""Decodes the frames of an export into conversations."""

import re
from collections.abc import Callable, Iterator
from typing import TypeVar

import msgspec

from qms.disk.export_files import Export
from qms.disk.json_frames import Frame, Lost, frame
from qms.features.mining.conversation import Found, Problem
from qms.memory.errors import UNDECODABLE

T = TypeVar("T")
ReadFrame = Callable[[Frame, str], Iterator[Found]]

_SURROGATES = re.compile(
    rb"\\\\"  # an escaped backslash: what follows it is text
    rb"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)


def read_values(export: Export, *, whole: ReadFrame, part: ReadFrame) -> Iterator[Found]:
    """Yield the conversations and problems of an export; `part` reads a message of a large one."""
    for member in export.members:
        for framed in frame(export.chunks(member)):
            if isinstance(framed, Lost):
                yield Problem(member.name, framed.offset, framed.reason)
            else:
                yield from (whole if framed.part_of is None else part)(framed, member.name)


def decode(data: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    """Return the value of a frame; invalid Unicode becomes the replacement character.

    Raises:
        ValueError: it is not JSON, or not of this type.
    """
    try:
        return decoder.decode(data)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except UNDECODABLE:
        # JavaScript writes lone surrogates; msgspec refuses to read them.
        whole = _SURROGATES.sub(_replaced, data.decode("utf-8", "replace").encode())
    try:
        return decoder.decode(whole)
    except UNDECODABLE as error:
        raise ValueError(str(error)) from None


def _replaced(found: re.Match[bytes]) -> bytes:
    return rb"\ufffd" if found["half"] else found[0]
