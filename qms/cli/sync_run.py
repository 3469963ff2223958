"""One run of a sync between two sides, each behind its commands; the rule is in docs/sync.md."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from typing import Any
from uuid import uuid4

import msgspec

from qms.ingest.sync_rule import (
    Side,
    Standing,
    Step,
    StepKind,
    Trace,
    missing_ids,
    next_base,
    steps,
)

Command = Callable[[str, dict[str, Any]], Any]
"""Run a command of the project on one side, and return what it answers."""

READ_IDS = 5000
APPLY_ENTRIES = 200
APPLY_BYTES = 4 * 1024 * 1024
"""So much is sent at once: well below what a request may hold."""


class Direction(StrEnum):
    """Which side is written to."""

    PULL = "pull"
    PUSH = "push"
    MERGE = "merge"


class Fault(msgspec.Struct, frozen=True, rename="camel"):
    """An entry that was left alone, and why."""

    side: str
    id: str
    code: str
    message: str


class Report(msgspec.Struct, rename="camel"):
    """What a run did, or would do; counts by kind of change."""

    direction: Direction
    dry_run: bool
    ours: dict[str, int]
    theirs: dict[str, int]
    conflicts: list[str]
    faults: list[Fault] = []


class SyncSide:
    """One side: what it has, and what happens to it."""

    def __init__(self, name: str, call: Command) -> None:
        self.name = name
        self._call = call
        self.store_id: str | None = None
        self.entries: dict[str, Standing] = {}
        self.versions: dict[str, str] = {}

    def look(self) -> None:
        """Learn what the side has."""
        after: str | None = ""
        while after is not None:
            page = self._call("syncState", {"after": after})
            self.store_id = page["storeId"]
            self.entries |= msgspec.convert(page["entries"], dict[str, Standing])
            after = page["nextAfter"]
        self.versions = {entry_id: one.version for entry_id, one in self.entries.items()}

    def traces(self, ids: Sequence[str]) -> dict[str, Trace]:
        """Return what the archive tells of entries that are not there."""
        found: dict[str, Trace] = {}
        for batch in _batches(ids, READ_IDS):
            answer = self._call("syncRead", {"ids": batch})
            found |= msgspec.convert(answer["traces"], dict[str, Trace])
        return found

    def base(self, peer: str | None) -> tuple[str | None, dict[str, str]]:
        """Return the token and the versions that were common with a peer."""
        if peer is None:
            return None, {}
        answer = self._call("syncBase", {"peer": peer})
        return answer["token"], answer["versions"]

    def read(self, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Return entries as they are stored now."""
        answer = self._call("syncRead", {"ids": list(ids)})
        return {entry["id"]: entry for entry in answer["entries"]}

    def apply(self, changes: list[dict[str, Any]]) -> list[Fault]:
        """Change the side, and return what was left alone."""
        answer = self._call("syncApply", {"changes": changes})
        for entry_id, version in answer["versions"].items():
            if version is None:
                self.versions.pop(entry_id, None)
            else:
                self.versions[entry_id] = version
        return [Fault(self.name, **fault) for fault in answer["faults"]]

    def remember(self, store_id: str, peer: str, token: str, versions: dict[str, str]) -> None:
        """Have the side keep what is common now."""
        common = {"storeId": store_id, "peer": peer, "token": token, "versions": versions}
        self._call("syncBase", common)


def sync(ours: SyncSide, theirs: SyncSide, direction: Direction, *, dry_run: bool) -> Report:
    """Bring two sides into step; the base is written last, so that a run may be cut off."""
    ours.look()
    theirs.look()
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
    report.faults = [*_bring(for_theirs, ours, theirs), *_bring(for_ours, theirs, ours)]
    common = next_base(ours.versions, theirs.versions, base)
    if common != base or ours.store_id is None or theirs.store_id is None:
        _remember(ours, theirs, common)
    return report


def _side(side: SyncSide, other: SyncSide) -> Side:
    return Side(side.entries, side.traces(missing_ids(side.entries, other.entries)))


def _common_base(ours: SyncSide, theirs: SyncSide) -> dict[str, str]:
    """Return what both sides had in common: nothing unless both remember the same sync."""
    token, versions = ours.base(theirs.store_id)
    known, _ = theirs.base(ours.store_id)
    return versions if token is not None and token == known else {}


def _remember(ours: SyncSide, theirs: SyncSide, common: dict[str, str]) -> None:
    our_id, their_id = ours.store_id or uuid4().hex, theirs.store_id or uuid4().hex
    token = uuid4().hex
    theirs.remember(their_id, our_id, token, common)
    ours.remember(our_id, their_id, token, common)


def _bring(wanted: list[Step], source: SyncSide, target: SyncSide) -> Iterator[Fault]:
    for batch in _batches(wanted, APPLY_ENTRIES):
        needed = [one.id for one in batch if one.kind is not StepKind.REMOVE]
        entries = source.read(needed) if needed else {}
        gone = frozenset(needed) - entries.keys()
        for entry_id in sorted(gone):
            yield Fault(source.name, entry_id, "conflict", "it was removed meanwhile: sync again")
        changes = [_change(one, entries.get(one.id)) for one in batch if one.id not in gone]
        for part in _of_bounded_size(changes):
            yield from target.apply(part)


def _change(step: Step, entry: dict[str, Any] | None) -> dict[str, Any]:
    change = {"id": step.id, "kind": step.kind, "expected": step.expected, "reason": step.reason}
    return change if entry is None else {**change, "entry": entry}


def _of_bounded_size(changes: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    part: list[dict[str, Any]] = []
    size = 0
    for change in changes:
        grows_by = len(msgspec.json.encode(change))
        if part and size + grows_by > APPLY_BYTES:
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
