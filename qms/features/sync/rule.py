"""Plans a sync: the steps that make two sides of a project equal; see docs/sync.md.

Pure functions of the entries of each side and of the versions that both had in common last time.
"""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

import msgspec

_SUPERSEDED = "superseded"


class SyncedVersion(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The version of an entry on one side."""

    version: str
    updated_utc: datetime
    part_of: str | None = None
    """The document that a chunk belongs to: it follows that document."""


class Trace(msgspec.Struct, frozen=True, rename="camel"):
    """The archived version of an entry that a side no longer has, and the reason."""

    version: str
    reason: str


class Side(msgspec.Struct, frozen=True):
    """The entries of one side, and the archive traces of entries that it lacks."""

    entries: Mapping[str, SyncedVersion]
    traces: Mapping[str, Trace] = {}


class StepKind(StrEnum):
    """The change of an entry on one side."""

    CREATE = "create"
    UPDATE = "update"
    REPLACE = "replace"
    """In a conflict: the entry before goes to the archive."""
    REMOVE = "remove"


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One change of one side, and the version that it expects there; None expects no entry."""

    id: str
    kind: StepKind
    expected: str | None
    version: str | None = None
    reason: str = ""


class Steps(msgspec.Struct, frozen=True):
    """The steps of each side."""

    ours: list[Step]
    theirs: list[Step]


def missing_ids(
    ours: Mapping[str, SyncedVersion], theirs: Mapping[str, SyncedVersion]
) -> list[str]:
    """Return the ids that only the second side has; the plan needs their traces on the first."""
    return [entry_id for entry_id in theirs if entry_id not in ours]


def steps(ours: Side, theirs: Side, base: Mapping[str, str]) -> Steps:
    """Return the steps of both sides; each list can be applied without the other.

    A document that differs takes all chunks of its side along, so that no document is made of two.
    Its own step is the last: a run that is cut off before it comes to the same result later.
    """
    plan = Steps([], [])
    owners = _owners(ours, theirs)
    moved = {one: step for one in set(owners.values()) if (step := _one(one, ours, theirs, base))}
    for entry_id in sorted({*ours.entries, *theirs.entries}):
        owner = owners.get(entry_id)
        if owner is not None and owner in moved:
            _follow(plan, entry_id, moved[owner], ours, theirs)
        elif entry_id not in moved:
            _add(plan, _one(entry_id, ours, theirs, base))
    for entry_id in sorted(moved):
        _add(plan, moved[entry_id])
    return plan


class _Move(msgspec.Struct, frozen=True):
    """A step, and whether it is a step of our side."""

    step: Step
    is_ours: bool


def _owners(ours: Side, theirs: Side) -> dict[str, str]:
    found = (*ours.entries.items(), *theirs.entries.items())
    return {entry_id: one.part_of for entry_id, one in found if one.part_of is not None}


def _add(plan: Steps, move: _Move | None) -> None:
    if move is not None:
        (plan.ours if move.is_ours else plan.theirs).append(move.step)


def _one(entry_id: str, ours: Side, theirs: Side, base: Mapping[str, str]) -> _Move | None:
    """Return the step of an entry by itself."""
    one, other = ours.entries.get(entry_id), theirs.entries.get(entry_id)
    known = base.get(entry_id)
    if one is not None and other is not None:
        return _both(entry_id, one, other, known)
    if one is not None:
        return _one_sided(entry_id, one, theirs, known, has_ours=True)
    if other is not None:
        return _one_sided(entry_id, other, ours, known, has_ours=False)
    return None


def _follow(plan: Steps, entry_id: str, document: _Move, ours: Side, theirs: Side) -> None:
    """Add the step of a chunk whose document differs: its side becomes what the other one is."""
    loser, winner = (ours, theirs) if document.is_ours else (theirs, ours)
    before, after = loser.entries.get(entry_id), winner.entries.get(entry_id)
    if document.step.kind is StepKind.REMOVE or before == after:
        return  # the document takes its chunks along
    if after is None:
        assert before is not None
        step = Step(id=entry_id, kind=StepKind.REMOVE, expected=before.version, reason=_SUPERSEDED)
    elif before is None:
        step = Step(id=entry_id, kind=StepKind.CREATE, expected=None, version=after.version)
    elif before.version == after.version:
        return
    else:
        is_conflict = document.step.kind is StepKind.REPLACE
        kind = StepKind.REPLACE if is_conflict else StepKind.UPDATE
        step = Step(id=entry_id, kind=kind, expected=before.version, version=after.version)
    _add(plan, _Move(step, document.is_ours))


def next_base(
    ours: Mapping[str, str], theirs: Mapping[str, str], base: Mapping[str, str]
) -> dict[str, str]:
    """Return the versions in common now; where the sides differ, those of the base before."""
    common = {one: version for one, version in ours.items() if theirs.get(one) == version}
    still = {
        one: version
        for one, version in base.items()
        if one not in common and (one in ours or one in theirs)
    }
    return common | still


def _both(
    entry_id: str, one: SyncedVersion, other: SyncedVersion, known: str | None
) -> _Move | None:
    if one.version == other.version:
        return None
    if known in (one.version, other.version):
        kind, ours_wins = StepKind.UPDATE, known == other.version
    else:
        kind, ours_wins = StepKind.REPLACE, _weight(one) > _weight(other)
    winner, loser = (one, other) if ours_wins else (other, one)
    step = Step(id=entry_id, kind=kind, expected=loser.version, version=winner.version)
    return _Move(step, is_ours=not ours_wins)


def _one_sided(
    entry_id: str, present: SyncedVersion, lacking: Side, known: str | None, *, has_ours: bool
) -> _Move:
    version, trace = present.version, lacking.traces.get(entry_id)
    if trace is not None and version in (known, trace.version):
        step = Step(id=entry_id, kind=StepKind.REMOVE, expected=version, reason=trace.reason)
        return _Move(step, has_ours)
    step = Step(id=entry_id, kind=StepKind.CREATE, expected=None, version=version)
    return _Move(step, not has_ours)


def _weight(one: SyncedVersion) -> tuple[datetime, str]:
    return one.updated_utc, one.version
