"""Late writes: edits that an editor writes into a file after a fold replaced it."""

import time

import msgspec

from qms.store.adopt import adopt
from qms.store.file_image import FileReading, LineProblem, read_image
from qms.store.file_state import Previous, StoreFiles
from qms.store.merge import merge, missing_ids, must_hold, spoiled_ids

_WATCHED = 4
"""How many replaced files are watched; one that is being written to stays longer."""


def take_late_writes(files: StoreFiles, *, is_last: bool = False) -> None:
    """Apply what was written into replaced files; stop watching those that are not written to.

    Raises:
        OSError: the journal or the disk does not accept it; the next call tries again.
    """
    for previous in list(files.previous):
        data = files.entries.written_late(previous.file)
        if data is not None:
            _take(files, previous, data)
        elif previous.missing:
            _apply_removals(files, previous)
    oldest = time.monotonic() - files.writer.options.keep_previous_s
    quiet = [one for one in files.previous if not one.is_written]
    surplus = quiet[: max(0, len(quiet) - _WATCHED)]
    for previous in list(files.previous):
        if is_last or previous in surplus or previous.since < oldest:
            _keep_unreadable(files, previous)
            files.previous.remove(previous)
            files.entries.forget(previous.file)


def _take(files: StoreFiles, previous: Previous, data: bytes) -> None:
    previous.since, previous.is_written = time.monotonic(), True
    before = previous.image
    base = before.lines_by_id()
    reader = files.reader(previous.file.identity)
    reading = read_image(data, before.known_lines(), reader, before.taken_ids())
    reading.image.identity = previous.file.identity
    gone = missing_ids(base, reading.image)
    spoiled = spoiled_ids(before, reading.image, gone)
    if must_hold(len(base), len(gone - spoiled)) or not reading.image.taken_ids():
        return  # most likely the editor is still writing: try again later
    reading.image.kept = {entry_id: base[entry_id] for entry_id in gone}
    with files.writer.lock:
        adopt(files, merge(base, reading.fresh, set(), files.writer.view), reading)
    previous.image, previous.missing = reading.image, gone - spoiled


def _apply_removals(files: StoreFiles, previous: Previous) -> None:
    """Apply a late write's removals once the file has not changed for a while: it is complete."""
    if time.monotonic() - previous.since < files.writer.options.settle_torn_s:
        return
    image, gone = previous.image, previous.missing
    with files.writer.lock:
        plan = merge(image.lines_by_id(), {}, gone, files.writer.view)
        # The store has another base: entries that are already gone do not change it.
        adopt(files, msgspec.structs.replace(plan, agreed={}), FileReading(image=image, fresh={}))
    image.kept = {one: line for one, line in image.kept.items() if one not in gone}
    previous.missing = set()


def _keep_unreadable(files: StoreFiles, previous: Previous) -> None:
    """Add unreadable lines of a late write to the file: they were written by hand too."""
    if not previous.is_written:
        return
    known = set(files.image.raws)
    for problem in previous.image.problems:
        raw = previous.image.raws[problem.index]
        if raw in known or problem.code == "duplicateId":
            continue
        place = len(files.image.raws)
        files.image.ids.append(None)
        files.image.raws.append(raw)
        files.image.problems.append(
            LineProblem(place, problem.code, problem.reason, problem.entry_id)
        )
        files.needs_base = True
