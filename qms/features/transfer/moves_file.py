"""Keeps the intents of unfinished moves between stores in `moves.json`.

An intent is durable before the first of the two stores changes, and removed after the second has:
after a crash, an intent that is still there names the move to finish.
"""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import msgspec

from qms.disk.damage import set_aside
from qms.disk.disk import Disk
from qms.memory.errors import UNDECODABLE
from qms.store.feature_files import FeatureFile

log = logging.getLogger(__name__)

MOVES_FILE = "moves.json"


class Move(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The intent of one move, and its caller."""

    source_id: str
    target_id: str
    user: str
    access: str
    """The tier of the caller in the source."""
    at_utc: datetime
    target_access: str = "writer"
    agent_id: str | None = None
    key_id: str | None = None


class Moves(FeatureFile):
    """The unfinished moves out of one store; any thread may call any method."""

    place = MOVES_FILE
    is_cache = False
    in_backups = False

    def __init__(self, disk: Disk, path: Path) -> None:
        self._disk = disk
        self._path = path
        self._lock = threading.Lock()
        self._begun = self._read()
        self._busy: set[Move] = set()

    def left_over(self) -> list[Move]:
        """Return the unfinished moves that no thread works on."""
        with self._lock:
            return [move for move in self._begun if move not in self._busy]

    def forget(self, entry_id: str) -> None:
        """Do nothing: a move names an entry and holds no text of it."""

    def __bool__(self) -> bool:
        return bool(self._begun)

    @contextmanager
    def under_way(self, move: Move) -> Iterator[None]:
        """Make an intent durable, and exclude other threads from finishing it.

        Raises:
            OSError: it cannot be written, and the move has not begun.
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
        """Remove the intent of a move that is finished or was not made.

        If the disk cannot be written the intent stays, and is recognised as finished later.
        """
        with self._lock:
            try:
                self._write([one for one in self._begun if one != move])
            except OSError as error:
                log.warning("move intent not removed", extra={"reason": error.strerror})

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
        except OSError as error:
            log.warning("moves not read", extra={"reason": error.strerror})
            return []
        except UNDECODABLE as error:
            set_aside(self._disk, self._path, error)
            return []
