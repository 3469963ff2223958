"""Plans a sync: the steps that make two sides of a project equal; see docs/sync.md.

Pure functions of the entries of each side and of the versions that both had in common last time.
"""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

import msgspec


class SyncedVersion(msgspec.Struct, frozen=True, rename="camel"):
    """The version of an entry on one side."""

    version: str
    updated_utc: datetime


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
    """Return the steps of both sides; each list can be applied without the other."""
    plan = Steps([], [])
    for entry_id in sorted({*ours.entries, *theirs.entries}):
        one, other = ours.entries.get(entry_id), theirs.entries.get(entry_id)
        known = base.get(entry_id)
        if one is not None and other is not None:
            _both(plan, entry_id, one, other, known)
        elif one is not None:
            _one_sided(entry_id, one, theirs, known, has=plan.ours, lacks=plan.theirs)
        elif other is not None:
            _one_sided(entry_id, other, ours, known, has=plan.theirs, lacks=plan.ours)
    return plan


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
    plan: Steps, entry_id: str, one: SyncedVersion, other: SyncedVersion, known: str | None
) -> None:
    if one.version == other.version:
        return
    if known in (one.version, other.version):
        kind, ours_wins = StepKind.UPDATE, known == other.version
    else:
        kind, ours_wins = StepKind.REPLACE, _weight(one) > _weight(other)
    winner, loser = (one, other) if ours_wins else (other, one)
    step = Step(id=entry_id, kind=kind, expected=loser.version, version=winner.version)
    (plan.theirs if ours_wins else plan.ours).append(step)


def _one_sided(
    entry_id: str,
    present: SyncedVersion,
    lacking: Side,
    known: str | None,
    *,
    has: list[Step],
    lacks: list[Step],
) -> None:
    version, trace = present.version, lacking.traces.get(entry_id)
    if trace is not None and version in (known, trace.version):
        has.append(Step(id=entry_id, kind=StepKind.REMOVE, expected=version, reason=trace.reason))
    else:
        lacks.append(Step(id=entry_id, kind=StepKind.CREATE, expected=None, version=version))


def _weight(one: SyncedVersion) -> tuple[datetime, str]:
    return one.updated_utc, one.version
