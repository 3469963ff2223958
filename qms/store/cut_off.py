"""Folds that were cut off: telling a fold's own lines from a person's.

A fold announces its file (`.qms/folding.json`, which makes its copy last), swaps it in, and makes
it the base. Ended in between, by a failing disk or with the process, it leaves a file that the base
does not explain. `B` is the base with the hand edits taken since, `S` the announced file:

| the file is | then |
| --- | --- |
| `S` | the fold came to pass: `S` is the base |
| `B` | it did not |
| neither, with a line that only `S` has | a person edited `S`: it is the base |
| neither, with a line that only `B` has | a person edited `B`: it is the base |
| neither, without such a line | not known; `B` is the base, and what `S` lacks is not missed |

Without an announced fold only a person can have taken a line out.
"""

import time
from collections.abc import Iterable

from qms.codec.hand_lines import bare
from qms.files.journal import Operation
from qms.store.file_side import CutOff, FileSide, FoldedWrites
from qms.store.image import split_lines


def find_parent(side: FileSide, data: bytes, digest: str) -> None:
    """Find out whether a cut-off fold came into place, now that the file was read."""
    cut_off = side.cut_off
    if cut_off is None or cut_off.is_in_place is not None:
        return
    if digest == side.image.digest:
        cut_off.is_in_place = False
    elif digest == cut_off.image.digest:
        _take_over(side, cut_off)
    else:
        _judge_by_lines(side, cut_off, set(map(bare, split_lines(data))))


def possibly_taken_out(side: FileSide, gone: Iterable[str]) -> set[str]:
    """Return what is missing and may have been taken out by a cut-off fold, not by a person."""
    cut_off = side.cut_off
    if cut_off is None or cut_off.is_in_place is not None:
        return set()
    left = cut_off.image.lines_by_id()
    return {entry_id for entry_id in gone if entry_id not in left}


def finish_cut_off(side: FileSide) -> None:
    """Bring the base to the fold that came into place, or take back one that did not.

    The file is the one last seen, so whoever asks knows which of the two it is.

    Raises:
        OSError: nothing is decided yet; the next fold tries again.
    """
    cut_off = side.cut_off
    if cut_off is not None and cut_off.is_in_place:
        side.entries.settle()  # a base that outlived its file would turn the old one into an edit
        side.base.write_meta(cut_off.meta)
    elif cut_off is not None:
        side.base.withdraw()
    side.cut_off = None
    side.base.finish()


def _judge_by_lines(side: FileSide, cut_off: CutOff, found: set[bytes]) -> None:
    base, left = side.base_lines(), cut_off.image.lines_by_id()
    differing = _differing(base, left) - _edited_after(side, cut_off)
    before = {base[one] for one in differing & base.keys()}
    after = {left[one] for one in differing & left.keys()}
    if found & (after - before):
        _take_over(side, cut_off)
    elif found & (before - after):
        cut_off.is_in_place = False


def _take_over(side: FileSide, cut_off: CutOff) -> None:
    """Make the announced file the one last seen."""
    later = _edited_after(side, cut_off)
    base, left = side.base_lines(), cut_off.image.lines_by_id()
    written = {one: left.get(one) for one in _differing(base, left) - later}
    side.recent.append(FoldedWrites(time.monotonic(), written))
    with side.writer.lock:
        side.image = cut_off.image
        side.moved = {one: line for one, line in side.moved.items() if one in later}
        newer = (one for one in side.writer.uncut if one.sequence > cut_off.meta.folded_sequence)
        changes = (change for record in newer for change in record.change_set.changes)
        side.writer.set_pending(dict.fromkeys(change.id for change in changes))
    side.needs_base = True
    cut_off.is_in_place = True


def _differing(first: dict[str, bytes], second: dict[str, bytes]) -> set[str]:
    return {one for one in first.keys() | second.keys() if first.get(one) != second.get(one)}


def _edited_after(side: FileSide, cut_off: CutOff) -> set[str]:
    """Return what hand edits changed that were taken after the fold began."""
    return {
        change.id
        for record in list(side.writer.uncut)
        if record.operation is Operation.ADOPT and record.sequence > cut_off.meta.folded_sequence
        for change in record.change_set.changes
    }
