"""One run of a sync between two sides, by commands only; the rule is in docs/sync.md."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from typing import Any
from uuid import uuid4

import msgspec

from qms.features.sync.rule import (
    Side,
    Step,
    StepKind,
    SyncedVersion,
    Trace,
    missing_ids,
    next_base,
    steps,
)

Command = Callable[[str, dict[str, Any]], Any]
"""Runs a project command on one side and returns its answer."""


class Portions(msgspec.Struct, frozen=True, kw_only=True):
    """The size of one request: well below the limit of a request body."""

    read_ids: int = 5000
    apply_entries: int = 200
    apply_bytes: int = 4 * 1024 * 1024


class Direction(StrEnum):
    """Which side is written to."""

    PULL = "pull"
    PUSH = "push"
    MERGE = "merge"


class Fault(msgspec.Struct, frozen=True, rename="camel"):
    """An entry that was skipped, and why."""

    side: str
    id: str
    code: str
    message: str


class Report(msgspec.Struct, rename="camel"):
    """The result of a run or of a dry run, counted by kind of change."""

    direction: Direction
    dry_run: bool
    ours: dict[str, int]
    theirs: dict[str, int]
    conflicts: list[str]
    faults: list[Fault] = []


class SyncSide:
    """One side of a sync: its entries, and the commands that read and change it."""

    def __init__(self, name: str, call: Command, portions: Portions | None = None) -> None:
        self.name = name
        self.portions = portions or Portions()
        self._call = call
        self.store_id: str | None = None
        self.projects: list[str] | None = None
        self.common: list[str] | None = None
        self.entries: dict[str, SyncedVersion] = {}
        self.versions: dict[str, str] = {}

    def look(self) -> None:
        """Read the versions of all entries, and the projects open to the caller; None is all."""
        after: str | None = ""
        while after is not None:
            page = self._ask("syncState", {"after": after})
            self.store_id, self.projects = page["storeId"], page["projects"]
            self.entries |= msgspec.convert(page["entries"], dict[str, SyncedVersion])
            after = page["nextAfter"]
        self.versions = {entry_id: one.version for entry_id, one in self.entries.items()}

    def keep_to(self, projects: list[str] | None) -> None:
        """Exclude relations into other projects from the sync, and read again if there may be any.

        Each side keeps its own such relations.
        """
        self.common = projects
        if projects != self.projects:
            self.look()

    def traces(self, ids: Sequence[str]) -> dict[str, Trace]:
        """Return what the archive knows of missing entries."""
        found: dict[str, Trace] = {}
        for batch in _batches(ids, self.portions.read_ids):
            answer = self._ask("syncRead", {"ids": batch})
            found |= msgspec.convert(answer["traces"], dict[str, Trace])
        return found

    def base(self, peer: str | None) -> tuple[str | None, dict[str, str]]:
        """Return the token and the common versions of the last sync with a peer."""
        if peer is None:
            return None, {}
        answer = self._call("syncBase", {"peer": peer})
        return answer["token"], answer["versions"]

    def read(self, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Return the current entries."""
        answer = self._ask("syncRead", {"ids": list(ids)})
        return {entry["id"]: entry for entry in answer["entries"]}

    def apply(self, changes: list[dict[str, Any]]) -> list[Fault]:
        """Apply changes to this side and return the entries that were skipped."""
        answer = self._ask("syncApply", {"changes": changes})
        for entry_id, version in answer["versions"].items():
            if version is None:
                self.versions.pop(entry_id, None)
            else:
                self.versions[entry_id] = version
        return [Fault(self.name, **fault) for fault in answer["faults"]]

    def remember(self, store_id: str, peer: str, token: str, versions: dict[str, str]) -> None:
        """Store the common versions on this side, as the base of the next sync."""
        common = {"storeId": store_id, "peer": peer, "token": token, "versions": versions}
        self._call("syncBase", common)

    def _ask(self, command: str, request: dict[str, Any]) -> Any:
        """Run a command, limited to the projects that both sides can access."""
        limited = {} if self.common is None else {"projects": self.common}
        return self._call(command, request | limited)


def sync(ours: SyncSide, theirs: SyncSide, direction: Direction, *, dry_run: bool) -> Report:
    """Sync two sides; the base is written last, so an interrupted run can be repeated."""
    ours.look()
    theirs.look()
    common = _common_projects(ours.projects, theirs.projects)
    ours.keep_to(common)
    theirs.keep_to(common)
    base = _common_base(ours, theirs)
    plan = steps(_side(ours, theirs), _side(theirs, ours), base)
    for_ours = [] if direction is Direction.PUSH else plan.ours
    for_theirs = [] if direction is Direction.PULL else plan.theirs
    report = Report(
        direction=direction,
        dry_run=dry_run,
        ours=_counts(for_ours),
        theirs=_counts(for_theirs),
        conflicts=[one.id for one in (*for_ours, *for_theirs) if one.kind is StepKind.REPLACE],
    )
    if dry_run:
        return report
    report.faults = [*_transfer(for_theirs, ours, theirs), *_transfer(for_ours, theirs, ours)]
    new_base = next_base(ours.versions, theirs.versions, base)
    if new_base != base or ours.store_id is None or theirs.store_id is None:
        _remember(ours, theirs, new_base)
    return report


def _side(side: SyncSide, other: SyncSide) -> Side:
    return Side(side.entries, side.traces(missing_ids(side.entries, other.entries)))


def _common_projects(ours: list[str] | None, theirs: list[str] | None) -> list[str] | None:
    if ours is None or theirs is None:
        return theirs if ours is None else ours
    known = {one.casefold() for one in theirs}
    return [one for one in ours if one.casefold() in known]


def _common_base(ours: SyncSide, theirs: SyncSide) -> dict[str, str]:
    """Return the common versions of the last sync: none unless both sides have the same token."""
    token, versions = ours.base(theirs.store_id)
    known, _ = theirs.base(ours.store_id)
    return versions if token is not None and token == known else {}


def _remember(ours: SyncSide, theirs: SyncSide, common: dict[str, str]) -> None:
    our_id, their_id = ours.store_id or uuid4().hex, theirs.store_id or uuid4().hex
    token = uuid4().hex
    theirs.remember(their_id, our_id, token, common)
    ours.remember(our_id, their_id, token, common)


def _transfer(wanted: list[Step], source: SyncSide, target: SyncSide) -> Iterator[Fault]:
    for batch in _batches(wanted, target.portions.apply_entries):
        needed = [one.id for one in batch if one.kind is not StepKind.REMOVE]
        entries = source.read(needed) if needed else {}
        gone = frozenset(needed) - entries.keys()
        for entry_id in sorted(gone):
            yield Fault(source.name, entry_id, "conflict", "removed during the sync: sync again")
        changes = [_change(one, entries.get(one.id)) for one in batch if one.id not in gone]
        for part in _of_bounded_size(changes, target.portions.apply_bytes):
            yield from target.apply(part)


def _change(step: Step, entry: dict[str, Any] | None) -> dict[str, Any]:
    change = {"id": step.id, "kind": step.kind, "expected": step.expected, "reason": step.reason}
    return change if entry is None else {**change, "entry": entry}


def _of_bounded_size(
    changes: list[dict[str, Any]], max_bytes: int
) -> Iterator[list[dict[str, Any]]]:
    part: list[dict[str, Any]] = []
    size = 0
    for change in changes:
        grows_by = len(msgspec.json.encode(change))
        if part and size + grows_by > max_bytes:
            yield part
            part, size = [], 0
        part.append(change)
        size += grows_by
    if part:
        yield part


def _batches(items: Sequence[Any], size: int) -> Iterator[list[Any]]:
    for start in range(0, len(items), size):
        yield list(items[start : start + size])


def _counts(wanted: list[Step]) -> dict[str, int]:
    return dict(Counter(one.kind.value for one in wanted))
