"""Moves under way: which entries are on their way to another store.

An intent is durable before the first of the two stores changes, and gone after the second did: so
whoever finds one after a crash knows what to finish.
"""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import msgspec

from qms.fsio.disk import Disk

log = logging.getLogger(__name__)

MOVES_FILE = "moves.json"


class Move(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One entry on its way, and who sent it."""

    source_id: str
    target_id: str
    user: str
    access: str
    at_utc: datetime
    agent_id: str | None = None
    key_id: str | None = None


class Moves:
    """The moves out of one store that have begun; any thread may call any method."""

    def __init__(self, disk: Disk, path: Path) -> None:
        self._disk = disk
        self._path = path
        self._lock = threading.Lock()
        self._begun = self._read()
        self._busy: set[Move] = set()

    def left_over(self) -> list[Move]:
        """Return the moves that began and that nobody is at work on."""
        with self._lock:
            return [move for move in self._begun if move not in self._busy]

    def __bool__(self) -> bool:
        return bool(self._begun)

    @contextmanager
    def under_way(self, move: Move) -> Iterator[None]:
        """Make an intent durable, and keep others from finishing it meanwhile.

        Raises:
            OSError: it cannot be written, and nothing has begun.
        """
        with self._lock:
            if move not in self._begun:
                self._write([*self._begun, move])
            self._busy.add(move)
        try:
            yield
        finally:
            with self._lock:
                self._busy.discard(move)

    def end(self, move: Move) -> None:
        """Forget a move that is finished, or never came to pass.

        A disk that does not take it keeps an intent that is found to be finished later.
        """
        with self._lock:
            try:
                self._write([one for one in self._begun if one != move])
            except OSError as error:
                log.warning("move not forgotten", extra={"reason": error.strerror})

    def _write(self, moves: list[Move]) -> None:
        if moves:
            self._disk.put(self._path, msgspec.json.encode(moves))
        else:
            self._disk.remove(self._path)
        self._begun = moves

    def _read(self) -> list[Move]:
        try:
            return msgspec.json.decode(self._disk.read(self._path), type=list[Move])
        except FileNotFoundError:
            return []
        except (OSError, ValueError) as error:
            log.warning("moves not read", extra={"reason": type(error).__name__})
            return []
