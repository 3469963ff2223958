"""MCP messages on standard input and output, one a line."""

import os
import sys
import threading
from collections.abc import Iterator
from typing import Any, BinaryIO

import msgspec

MAX_LINE_BYTES = 80 * 1024 * 1024
"""Longer than any message that a server accepts."""


class Pipes:
    """The client's side: one thread reads lines, any thread writes them."""

    def __init__(self, reading: BinaryIO, writing: BinaryIO) -> None:
        self._reading = reading
        self._writing = writing
        self._lock = threading.Lock()

    def lines(self) -> Iterator[bytes]:
        """Yield the client's lines until it closes its end, without empty ones."""
        while line := self._reading.readline(MAX_LINE_BYTES):
            if not line.endswith(b"\n") and len(line) == MAX_LINE_BYTES:
                self._skip_rest()
                yield b"{"  # not JSON: the client gets a parse error
            elif line.strip():
                yield line.strip()

    def write(self, message: bytes) -> None:
        """Send a message; ignore a client that no longer reads."""
        # A line break in JSON is only whitespace: strings escape theirs.
        line = message.replace(b"\r", b" ").replace(b"\n", b" ") + b"\n"
        with self._lock:
            try:
                self._writing.write(line)
                self._writing.flush()
            except (OSError, ValueError):
                return

    def answer(self, message: Any) -> None:
        """Encode and send a message of the bridge itself."""
        self.write(msgspec.json.encode(message))

    def _skip_rest(self) -> None:
        while (line := self._reading.readline(MAX_LINE_BYTES)) and not line.endswith(b"\n"):
            pass


def standard_pipes() -> Pipes:
    """Return standard input and output; redirect all other output to standard error."""
    writing = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # By file descriptor, so that output of native libraries is redirected too.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    sys.stdout = sys.stderr
    return Pipes(sys.stdin.buffer, writing)
