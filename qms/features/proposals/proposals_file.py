"""Keeps the open proposals of a store in `.qms/proposals.json`.

Losing it loses no entry: no proposal in it has been applied.
"""

import logging
import threading
from collections.abc import Callable, Collection, Iterable
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from pathlib import Path

import msgspec

from qms.disk.damage import set_aside
from qms.disk.disk import Disk
from qms.memory.errors import UNDECODABLE
from qms.store.feature_files import FeatureFile

log = logging.getLogger(__name__)

PROPOSALS_FILE = "proposals.json"

MAX_PROPOSALS = 1000
"""At most this many are kept; the oldest are dropped first."""


class ProposalKind(StrEnum):
    """The proposed change: add tags, or add a relation `contradicts`."""

    TAGS = "tags"
    CONTRADICTION = "contradiction"


class Proposal(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One proposed change of one version of an entry."""

    entry_id: str
    version: str
    kind: ProposalKind
    model: str
    proposed_utc: datetime
    tags: tuple[str, ...] = ()
    other_id: str | None = None
    why: str = ""

    @property
    def id(self) -> str:
        """Return an id that an equal proposal has too."""
        same = (self.entry_id, self.kind, self.tags, self.other_id)
        return sha256(msgspec.json.encode(same)).hexdigest()[:16]


class Proposals(FeatureFile):
    """The proposals of one store, oldest first; any thread may call any method."""

    place = PROPOSALS_FILE
    is_cache = True
    in_backups = False

    def __init__(self, disk: Disk, path: Path) -> None:
        self._disk = disk
        self._path = path
        self._lock = threading.Lock()
        self._kept: list[Proposal] | None = None

    def all(self) -> list[Proposal]:
        """Return all open proposals."""
        with self._lock:
            return list(self._read())

    def replace(self, entry_id: str, made: Iterable[Proposal]) -> None:
        """Replace the proposals of an entry."""
        fresh = list(made)
        self._keep(lambda one: one.entry_id != entry_id, fresh)

    def forget(self, entry_id: str) -> None:
        """Drop every proposal that names an entry."""
        self._keep(lambda one: entry_id not in (one.entry_id, one.other_id), [])

    def drop(self, ids: Collection[str]) -> None:
        """Drop proposals that were accepted or dismissed."""
        self._keep(lambda one: one.id not in ids, [])

    def _keep(self, stays: Callable[[Proposal], bool], fresh: list[Proposal]) -> None:
        with self._lock:
            before = self._read()
            after = [*filter(stays, before), *fresh][-MAX_PROPOSALS:]
            if after != before:
                self._kept = after
                self._write(after)

    def _write(self, proposals: list[Proposal]) -> None:
        try:
            if proposals:
                self._disk.put(self._path, msgspec.json.encode(proposals))
            else:
                self._disk.remove(self._path)
        except OSError as error:
            log.warning("proposals not kept", extra={"reason": error.strerror})

    def _read(self) -> list[Proposal]:
        if self._kept is None:
            try:
                self._kept = msgspec.json.decode(self._disk.read(self._path), type=list[Proposal])
            except FileNotFoundError:
                self._kept = []
            except OSError as error:
                log.warning("proposals not read", extra={"reason": error.strerror})
                self._kept = []
            except UNDECODABLE as error:
                set_aside(self._disk, self._path, error)
                self._kept = []
        return self._kept
