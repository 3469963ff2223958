"""The three-way merge of a hand edit: from base, file and RAM to the changes in RAM.

Base is the last folded file, theirs the file now, ours the RAM. Changed on one side: that side
wins. Changed on both: the person's version wins, the server's becomes a conflict copy. Written by
the server and not in the base: kept.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Set

import msgspec

from qms.memory.changes import Put
from qms.memory.hand_lines import GoodLine
from qms.memory.lines import decode_line
from qms.store.file_image import Image, LineProblem
from qms.store.journal import JournalRecord, Operation
from qms.store.view import Record, StoreView

OwnLines = Mapping[str, Set[bytes | None]]
"""Lines that the server wrote, by id; None is a removal."""

HOLD_MINIMUM = 10
"""How many entries may be missing from a file at once before the edit can be held."""


class Merge(msgspec.Struct, frozen=True, kw_only=True):
    """What a hand edit changes."""

    put: dict[str, GoodLine]
    """Entries to take from the file."""
    removed: list[str]
    """Entries that the person removed."""
    agreed: dict[str, bytes]
    """Entries that both sides removed, with their lines: only the base changes."""
    lost: dict[str, Record]
    """The server's versions that lose against the person's, by id."""


def missing_ids(base: Mapping[str, bytes], theirs: Image) -> set[str]:
    """Return the ids that the base has and the file does not."""
    return base.keys() - {entry_id for entry_id in theirs.ids if entry_id is not None}


def must_hold(base_size: int, gone: int) -> bool:
    """Say whether too many entries are missing at once, so that a person has to confirm it."""
    return gone > HOLD_MINIMUM and gone * 2 > base_size


def own_lines(records: Iterable[JournalRecord]) -> OwnLines:
    """Return the lines that the server wrote of each entry since its last hand edit."""
    own: dict[str, set[bytes | None]] = {}
    for record in records:
        for change in record.change_set.changes:
            if record.operation is Operation.ADOPT:
                own.pop(change.id, None)
            else:
                line = change.line if isinstance(change, Put) else None
                own.setdefault(change.id, set()).add(line)
    return own


def merge(
    base: Mapping[str, bytes],
    fresh: Mapping[str, GoodLine],
    gone: set[str],
    ours: StoreView,
    unseen: Set[str] = frozenset(),
) -> Merge:
    """Return the changes that apply the hand edit to RAM.

    Entries that the person may not have seen (`unseen`) count as changed by the server.
    """
    put: dict[str, GoodLine] = {}
    removed: list[str] = []
    agreed: dict[str, bytes] = {}
    lost: dict[str, Record] = {}
    for entry_id, theirs in fresh.items():
        before, current = base.get(entry_id), ours.get(entry_id)
        if theirs.line == before:
            continue
        put[entry_id] = theirs
        if current is None and entry_id in unseen:
            lost[entry_id] = Record(theirs.header, theirs.line)
        elif current is None or _is_same(current.line, theirs.line):
            continue
        elif entry_id in unseen or _changed(before, current):
            lost[entry_id] = current
    for entry_id in gone:
        current = ours.get(entry_id)
        if current is None:
            agreed[entry_id] = base[entry_id]
            continue
        removed.append(entry_id)
        if entry_id in unseen or _changed(base[entry_id], current):
            lost[entry_id] = current
    return Merge(put=put, removed=removed, agreed=agreed, lost=lost)


def _changed(before: bytes | None, current: Record | None) -> bool:
    return (current.line if current else None) != before


def _is_same(first: bytes, second: bytes) -> bool:
    return first == second or decode_line(first) == decode_line(second)


def spoiled_ids(
    base: Image, theirs: Image, gone: set[str], later: Set[str] = frozenset()
) -> set[str]:
    """Return the missing ids whose lines became unreadable instead of being removed.

    A new unreadable line with a visible id is the line of that entry. One without is the line of
    any entry that is missing between the same two neighbours. An entry whose line was unreadable
    before is kept while any such line is left. The place of an entry that got its line after the
    base (`later`) is not known: any new line without an id may be its line.
    """
    if not gone:
        return set()
    spoiled: set[str] = set()
    nameless: list[LineProblem] = []
    fresh: list[LineProblem] = []
    placed = base.taken_ids()
    had_line = placed.keys() | later
    old = {base.raws[index] for index in base.other_lines()}
    for problem in theirs.problems:
        if problem.code == "duplicateId":
            continue
        is_fresh = theirs.raws[problem.index] not in old
        if problem.entry_id is None:
            nameless.append(problem)
            fresh += [problem] if is_fresh else []
        elif problem.entry_id in gone and (is_fresh or problem.entry_id not in had_line):
            spoiled.add(problem.entry_id)
    if nameless:
        spoiled |= gone - had_line
        spoiled |= (gone & later) - placed.keys() if fresh else set()
        spoiled |= _between_neighbours(base, theirs, gone - spoiled, fresh)
    return spoiled


def _between_neighbours(
    base: Image, theirs: Image, gone: set[str], nameless: list[LineProblem]
) -> set[str]:
    places = {entry_id: place for place, entry_id in enumerate(theirs.ids) if entry_id is not None}
    bad_places = [problem.index for problem in nameless]
    found: set[str] = set()
    run: list[str] = []
    before = -1
    end = ""
    places[end] = len(theirs.ids)
    for entry_id in [*base.taken_ids(), end]:
        if entry_id in gone:
            run.append(entry_id)
            continue
        place = places.get(entry_id)
        if place is None:
            continue
        first = bisect_left(bad_places, before)
        if run and first < len(bad_places) and bad_places[first] < place:
            found.update(run)
        run, before = [], place
    return found
