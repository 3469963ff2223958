"""Messages on a pipe between the server and a worker: a kind, a length, the bytes."""

import struct
from typing import IO

READY = b"W"
"""From the worker: the walls that stand, before it reads any message."""
MESSAGE = b"M"
FAILURE = b"E"
"""From the worker, as its last frame: what went wrong."""

_HEAD = struct.Struct(">cI")


class BrokenPipe(Exception):  # noqa: N818 - the end of a conversation, expected by the caller
    """The other side is gone, or does not keep to the form of frames."""


def write_frame(pipe: IO[bytes], kind: bytes, data: bytes) -> None:
    """Write one frame.

    Raises:
        BrokenPipe: the other side is gone.
    """
    try:
        pipe.write(_HEAD.pack(kind, len(data)))
        pipe.write(data)
        pipe.flush()
    except (OSError, ValueError) as error:
        raise BrokenPipe from error


def read_frame(pipe: IO[bytes], most_bytes: int) -> tuple[bytes, bytes]:
    """Return the kind and the bytes of the next frame.

    Raises:
        BrokenPipe: there is none, it is cut off, or longer than `most_bytes`.
    """
    try:
        head = pipe.read(_HEAD.size)
        if len(head) < _HEAD.size:
            raise BrokenPipe
        kind, length = _HEAD.unpack(head)
        if length > most_bytes:
            raise BrokenPipe
        data = pipe.read(length)
    except (OSError, ValueError) as error:
        raise BrokenPipe from error
    if len(data) < length:
        raise BrokenPipe
    return kind, data
