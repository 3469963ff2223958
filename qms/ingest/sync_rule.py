"""The rule by which two sides of a project come into step; see docs/sync.md.

Pure: what each side has, what both had in common the last time, and what becomes of each entry.
"""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

import msgspec


class Standing(msgspec.Struct, frozen=True, rename="camel"):
    """An entry as one side has it."""

    version: str
    updated_utc: datetime


class Trace(msgspec.Struct, frozen=True, rename="camel"):
    """What the archive of a side tells of an entry that it has no more."""

    version: str
    reason: str


class Side(msgspec.Struct, frozen=True):
    """What one side has, and what its archive tells of what it has not."""

    entries: Mapping[str, Standing]
    traces: Mapping[str, Trace] = {}


class StepKind(StrEnum):
    """What happens to an entry."""

    CREATE = "create"
    UPDATE = "update"
    REPLACE = "replace"
    """Of a conflict: what was there goes to the archive."""
    REMOVE = "remove"


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One change of one side, and the version that it expects there; None expects nothing."""

    id: str
    kind: StepKind
    expected: str | None
    version: str | None = None
    reason: str = ""


class Steps(msgspec.Struct, frozen=True):
    """What each side has to do, to become like the other."""

    ours: list[Step]
    theirs: list[Step]


def missing_ids(ours: Mapping[str, Standing], theirs: Mapping[str, Standing]) -> list[str]:
    """Return the ids that only the second side has: whose traces on the first side matter."""
    return [entry_id for entry_id in theirs if entry_id not in ours]


def steps(ours: Side, theirs: Side, base: Mapping[str, str]) -> Steps:
    """Return what both sides have to do; either list by itself is harmless and worth doing."""
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
    """Return what both sides have in common now; where they differ, what they had before."""
    common = {one: version for one, version in ours.items() if theirs.get(one) == version}
    still = {
        one: version
        for one, version in base.items()
        if one not in common and (one in ours or one in theirs)
    }
    return common | still


def _both(plan: Steps, entry_id: str, one: Standing, other: Standing, known: str | None) -> None:
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
    standing: Standing,
    lacking: Side,
    known: str | None,
    *,
    has: list[Step],
    lacks: list[Step],
) -> None:
    version, trace = standing.version, lacking.traces.get(entry_id)
    if trace is not None and version in (known, trace.version):
        has.append(Step(id=entry_id, kind=StepKind.REMOVE, expected=version, reason=trace.reason))
    else:
        lacks.append(Step(id=entry_id, kind=StepKind.CREATE, expected=None, version=version))


def _weight(standing: Standing) -> tuple[datetime, str]:
    return standing.updated_utc, standing.version
