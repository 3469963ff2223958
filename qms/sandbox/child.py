"""The worker's side: import the work, lock the process, then read the first message.

Nothing that a caller sent is read before the walls stand. What the work needs has to be imported by
its module, because no file can be opened afterwards.
"""

import gc
import importlib
import os
import sys
from collections.abc import Callable
from typing import IO

import msgspec

from qms.sandbox.frames import FAILURE, MESSAGE, READY, BrokenPipe, read_frame, write_frame
from qms.sandbox.walls import Bounds, Wall, begin_worker, raise_walls

_TEXT_BYTES = 2_000
"""How much of an error's text is sent."""


class Start(msgspec.Struct, frozen=True):
    """What a worker is told on its command line."""

    target: str
    """The work, as `module:function`."""
    bounds: Bounds
    walls: frozenset[Wall]


class Failure(msgspec.Struct, frozen=True):
    """Why the work failed: the class of the error, and its text."""

    error: str
    text: str


class Channel:
    """The two pipes of a worker, as the work sees them."""

    def __init__(self, incoming: IO[bytes], outgoing: IO[bytes], most_bytes: int) -> None:
        self._incoming = incoming
        self._outgoing = outgoing
        self._most_bytes = most_bytes

    def receive(self) -> bytes:
        """Return the next message of the server.

        Raises:
            BrokenPipe: there is none.
        """
        return read_frame(self._incoming, self._most_bytes)[1]

    def send(self, data: bytes, kind: bytes = MESSAGE) -> None:
        """Send a message to the server."""
        write_frame(self._outgoing, kind, data)


def echo(channel: Channel) -> None:
    """Send one message back: the smallest work."""
    channel.send(channel.receive())


def main() -> None:
    """Run one job, told on the command line, over standard input and output."""
    begin_worker()
    start = msgspec.json.decode(sys.argv[1], type=Start)
    channel = Channel(os.fdopen(0, "rb"), os.fdopen(os.dup(1), "wb"), start.bounds.message_bytes)
    os.dup2(2, 1)  # what a library prints must not get between the frames
    try:
        work = _find(start.target)
        gc.freeze()
        standing = raise_walls(start.bounds, start.walls)
        channel.send(msgspec.json.encode(standing), READY)
        work(channel)
    except BrokenPipe:
        os._exit(0)
    except BaseException as error:  # noqa: BLE001 - told to the server, which decides
        _tell(channel, error)
    os._exit(0)  # no teardown: it would want files that are closed to it


def _find(target: str) -> Callable[[Channel], None]:
    module, _, name = target.partition(":")
    work: Callable[[Channel], None] = getattr(importlib.import_module(module), name)
    return work


def _tell(channel: Channel, error: BaseException) -> None:
    text = "" if isinstance(error, MemoryError) else str(error)[:_TEXT_BYTES]
    failure = Failure(type(error).__name__, text)
    try:
        channel.send(msgspec.json.encode(failure), FAILURE)
    except BrokenPipe:
        os._exit(1)
