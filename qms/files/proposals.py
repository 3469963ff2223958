"""What a language model proposes for a store, until somebody decides: `.qms/proposals.json`.

Losing it costs no memory: nothing of it has happened yet.
"""

import logging
import threading
from collections.abc import Callable, Collection, Iterable
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from pathlib import Path

import msgspec

from qms.fsio.disk import Disk

log = logging.getLogger(__name__)

PROPOSALS_FILE = "proposals.json"

MAX_PROPOSALS = 1000
"""So many wait for a decision; beyond them the oldest go."""


class ProposalKind(StrEnum):
    """What would be done: tags would be added, or a relation `contradicts`."""

    TAGS = "tags"
    CONTRADICTION = "contradiction"


class Proposal(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One thing to decide about one version of an entry."""

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
        """Return a name that the same proposal has again."""
        same = (self.entry_id, self.kind, self.tags, self.other_id)
        return sha256(msgspec.json.encode(same)).hexdigest()[:16]


class Proposals:
    """The proposals of one store, oldest first; any thread may call any method."""

    def __init__(self, disk: Disk, path: Path) -> None:
        self._disk = disk
        self._path = path
        self._lock = threading.Lock()
        self._kept: list[Proposal] | None = None

    def all(self) -> list[Proposal]:
        """Return what waits for a decision."""
        with self._lock:
            return list(self._read())

    def replace(self, entry_id: str, made: Iterable[Proposal]) -> None:
        """Keep what is proposed for an entry now, instead of what was before."""
        fresh = list(made)
        self._keep(lambda one: one.entry_id != entry_id, fresh)

    def forget(self, entry_id: str) -> None:
        """Forget everything that names an entry."""
        self._keep(lambda one: entry_id not in (one.entry_id, one.other_id), [])

    def drop(self, ids: Collection[str]) -> None:
        """Forget proposals that somebody has decided about."""
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
                self._disk.put(self._path, msgspec.json.encode(proposals), mode=0o600)
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
            except (OSError, ValueError) as error:
                log.warning("proposals not read", extra={"reason": type(error).__name__})
                self._kept = []
        return self._kept
