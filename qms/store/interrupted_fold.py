"""Interrupted folds: finds out whether the file was swapped, and which lines a person changed.

A fold announces its file (`.qms/folding.json`, which keeps its copy), swaps it in, and makes it the
base. If the disk or the process fails in between, the file may differ from the base without a hand
edit. `B` is the base with the hand edits since, `S` the announced file:

| the file is | then |
| --- | --- |
| `S` | the swap happened: `S` is the base |
| `B` | it did not |
| neither, with a line that only `S` has | a person edited `S`: `S` is the base |
| neither, with a line that only `B` has | a person edited `B`: `B` is the base |
| neither, without such a line | unknown; `B` is the base, and lines not in `S` are not deletions |

Without an announced fold only a person can have removed a line.
"""

from collections.abc import Iterable

from qms.memory.hand_lines import bare
from qms.store.file_image import split_lines
from qms.store.file_state import InterruptedFold, StoreFiles
from qms.store.journal import JournalRecord, Operation


def find_parent(files: StoreFiles, data: bytes, digest: str) -> None:
    """Find out from the file's content whether an interrupted fold had swapped it."""
    interrupted = files.interrupted
    if interrupted is None or interrupted.is_in_place is not None:
        return
    if digest == files.image.digest:
        interrupted.is_in_place = False
    elif digest == interrupted.image.digest:
        _take_over(files, interrupted)
    else:
        _judge_by_lines(files, interrupted, set(map(bare, split_lines(data))))


def possibly_taken_out(files: StoreFiles, gone: Iterable[str]) -> set[str]:
    """Return the missing entries that an interrupted fold, not a person, may have removed."""
    interrupted = files.interrupted
    if interrupted is None or interrupted.is_in_place is not None:
        return set()
    left = interrupted.image.lines_by_id()
    return {entry_id for entry_id in gone if entry_id not in left}


def finish_cut_off(files: StoreFiles) -> None:
    """Make an interrupted fold the base if its file is in place, else withdraw it.

    The file is the one last read, so it is known which of the two is the case.

    Raises:
        OSError: nothing is decided yet; the next fold tries again.
    """
    interrupted = files.interrupted
    if interrupted is not None and interrupted.is_in_place:
        # First the file: if only the base survived a power loss, the old file would look edited.
        files.entries.settle()
        files.base.write_meta(interrupted.meta)
    elif interrupted is not None:
        files.base.withdraw()
    files.interrupted = None
    files.base.finish()


def _judge_by_lines(files: StoreFiles, interrupted: InterruptedFold, found: set[bytes]) -> None:
    base, left = files.base_lines(), interrupted.image.lines_by_id()
    differing = _differing(base, left) - _edited_after(files, interrupted)
    before = {base[one] for one in differing & base.keys()}
    after = {left[one] for one in differing & left.keys()}
    if found & (after - before):
        _take_over(files, interrupted)
    elif found & (before - after):
        interrupted.is_in_place = False


def _take_over(files: StoreFiles, interrupted: InterruptedFold) -> None:
    """Make the announced file the image."""
    later = _edited_after(files, interrupted)
    with files.writer.lock:
        files.image = interrupted.image
        files.state = interrupted.image.digest
        files.edits = []
        files.moved = {one: line for one, line in files.moved.items() if one in later}
        newer = (
            one for one in files.writer.uncut if one.sequence > interrupted.meta.folded_sequence
        )
        files.writer.set_pending(dict.fromkeys(one for record in newer for one in _ids(record)))
    files.needs_base = True
    interrupted.is_in_place = True


def _differing(first: dict[str, bytes], second: dict[str, bytes]) -> set[str]:
    return {one for one in first.keys() | second.keys() if first.get(one) != second.get(one)}


def _edited_after(files: StoreFiles, interrupted: InterruptedFold) -> set[str]:
    """Return the entries that hand edits changed after the fold began."""
    return {
        entry_id
        for record in list(files.writer.uncut)
        if record.operation is Operation.ADOPT
        and record.sequence > interrupted.meta.folded_sequence
        for entry_id in _ids(record)
    }


def _ids(record: JournalRecord) -> list[str]:
    changes = (*record.change_set.changes, *record.change_set.outdated)
    return [change.id for change in changes]
