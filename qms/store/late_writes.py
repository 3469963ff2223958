"""Late writes: what an editor puts into a file that a fold has replaced under its hands."""

import time

import msgspec

from qms.store.adopt import adopt
from qms.store.file_side import FileSide, Previous
from qms.store.image import FileReading, LineProblem, read_image
from qms.store.merge import merge, missing_ids, must_hold, spoiled_ids

_WATCHED = 4
"""So many replaced files are watched at least; one that is being written into stays longer."""


def take_late_writes(side: FileSide, *, is_last: bool = False) -> None:
    """Take what was written into replaced files; give up those that nobody writes into.

    Raises:
        OSError: the journal or the disk does not take it; the next look does it again.
    """
    for previous in list(side.previous):
        data = side.entries.written_late(previous.file)
        if data is not None:
            _take(side, previous, data)
        elif previous.missing:
            _take_out(side, previous)
    oldest = time.monotonic() - side.writer.options.keep_previous_s
    quiet = [one for one in side.previous if not one.is_written]
    surplus = quiet[: max(0, len(quiet) - _WATCHED)]
    for previous in list(side.previous):
        if is_last or previous in surplus or previous.since < oldest:
            _keep_unreadable(side, previous)
            side.previous.remove(previous)
            side.entries.forget(previous.file)


def _take(side: FileSide, previous: Previous, data: bytes) -> None:
    previous.since, previous.is_written = time.monotonic(), True
    before = previous.image
    base = before.lines_by_id()
    reader = side.reader(previous.file.identity)
    reading = read_image(data, before.known_lines(), reader, before.taken_ids())
    reading.image.identity = previous.file.identity
    gone = missing_ids(base, reading.image)
    spoiled = spoiled_ids(before, reading.image, gone)
    if must_hold(len(base), len(gone - spoiled)) or not reading.image.taken_ids():
        return  # most likely an editor in the middle of writing: look again
    reading.image.kept = {entry_id: base[entry_id] for entry_id in gone}
    with side.writer.lock:
        adopt(side, merge(base, reading.fresh, set(), side.writer.view), reading)
    previous.image, previous.missing = reading.image, gone - spoiled


def _take_out(side: FileSide, previous: Previous) -> None:
    """Take a late write's removals once nobody has written for a while: it is whole then."""
    if time.monotonic() - previous.since < side.writer.options.settle_torn_s:
        return
    image, gone = previous.image, previous.missing
    with side.writer.lock:
        plan = merge(image.lines_by_id(), {}, gone, side.writer.view)
        # The base of the store is another one: what is gone already need not move it.
        adopt(side, msgspec.structs.replace(plan, agreed={}), FileReading(image=image, fresh={}))
    image.kept = {one: line for one, line in image.kept.items() if one not in gone}
    previous.missing = set()


def _keep_unreadable(side: FileSide, previous: Previous) -> None:
    """Bring unreadable lines of a late write into the file: they are a person's too."""
    if not previous.is_written:
        return
    known = set(side.image.raws)
    for problem in previous.image.problems:
        raw = previous.image.raws[problem.index]
        if raw in known or problem.code == "duplicateId":
            continue
        place = len(side.image.raws)
        side.image.ids.append(None)
        side.image.raws.append(raw)
        side.image.problems.append(
            LineProblem(place, problem.code, problem.reason, problem.entry_id)
        )
        side.needs_base = True
