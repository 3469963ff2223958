"""Standard input and output as MCP uses them: a message a line, and nothing else."""

import os
import sys
import threading
from collections.abc import Iterator
from typing import Any, BinaryIO

import msgspec

MAX_LINE_BYTES = 80 * 1024 * 1024
"""Longer than any message that a server takes."""


class Pipes:
    """The client's side: lines in, in one thread; lines out, from any."""

    def __init__(self, reading: BinaryIO, writing: BinaryIO) -> None:
        self._reading = reading
        self._writing = writing
        self._lock = threading.Lock()

    def lines(self) -> Iterator[bytes]:
        """Yield what the client sends, until it closes its end; None of it is empty."""
        while line := self._reading.readline(MAX_LINE_BYTES):
            if not line.endswith(b"\n") and len(line) == MAX_LINE_BYTES:
                self._skip_rest()
                yield b"{"  # no JSON, as the client is told
            elif line.strip():
                yield line.strip()

    def write(self, message: bytes) -> None:
        """Send one message; nothing happens when the client no longer reads."""
        # A line break inside of JSON is mere layout.
        line = message.replace(b"\r", b" ").replace(b"\n", b" ") + b"\n"
        with self._lock:
            try:
                self._writing.write(line)
                self._writing.flush()
            except (OSError, ValueError):
                return

    def answer(self, message: Any) -> None:
        """Send one message that was made here."""
        self.write(msgspec.json.encode(message))

    def _skip_rest(self) -> None:
        while (line := self._reading.readline(MAX_LINE_BYTES)) and not line.endswith(b"\n"):
            pass


def standard_pipes() -> Pipes:
    """Return standard input and output; whatever else prints goes to standard error from now on."""
    writing = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # By its number, so that libraries which are not written in Python are caught too.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    sys.stdout = sys.stderr
    return Pipes(sys.stdin.buffer, writing)
