"""Erases an entry from all files of a store, a document with every chunk that it ever had.

All other removals keep a copy in the archive. This is the only one that does not.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from qms.disk.damage import SUFFIX
from qms.memory.changes import Change, ChangeSet
from qms.memory.errors import UNDECODABLE, ConflictError
from qms.memory.parts import is_part_line
from qms.store.draft import Draft
from qms.store.file_image import Image
from qms.store.file_state import StoreFiles
from qms.store.fold import fold
from qms.store.late_writes import take_late_writes
from qms.store.options import FoldOutcome, Origin
from qms.store.reload import reload

REASON = "erased"

_ATTEMPTS = 5


class Traces(msgspec.Struct, frozen=True, rename="camel"):
    """How often an entry was found in each file of a store."""

    entries: int = 0
    other_lines: int = 0
    """Lines of the file that are no entries and have its id."""
    archive: int = 0
    conflicts: int = 0
    changes: int = 0
    kept_files: int = 0

    @property
    def total(self) -> int:
        """Return the sum over all files."""
        return sum(msgspec.structs.astuple(self))


class _Entry(msgspec.Struct, frozen=True):
    id: str = ""


class _Line(msgspec.Struct, frozen=True):
    id: str = ""
    entry: _Entry = _Entry()


class _Holder(msgspec.Struct, frozen=True):
    entry: msgspec.Raw = msgspec.Raw(b"{}")


def is_about(line: bytes, entry_id: str) -> bool:
    """Say whether a line is or holds this entry or a chunk of it.

    An unreadable line that names its id counts.
    """
    try:
        found = msgspec.json.decode(line, type=_Line)
    except UNDECODABLE:
        return msgspec.json.encode(entry_id) in line
    if entry_id in (found.id, found.entry.id) or is_part_line(line, entry_id):
        return True
    return is_part_line(msgspec.json.decode(line, type=_Holder).entry, entry_id)


def part_ids(lines: Iterable[bytes], document_id: str) -> Iterator[str]:
    """Yield the ids of a document's chunks that stand in lines of entries, archived or not."""
    for line in lines:
        try:
            found = msgspec.json.decode(line, type=_Line)
            held = msgspec.json.decode(line, type=_Holder).entry
        except UNDECODABLE:
            continue
        if is_part_line(line, document_id):
            yield found.id
        elif is_part_line(held, document_id):
            yield found.entry.id


def id_of(line: bytes) -> str:
    """Return the id of an entry's line; empty if it has none."""
    try:
        return msgspec.json.decode(line, type=_Entry).id
    except UNDECODABLE:
        return ""


class Eraser:
    """Erases entries from all files of one store."""

    def __init__(self, files: StoreFiles) -> None:
        self._files = files

    def find(self, entry_id: str) -> Traces:
        """Count an entry in each file; a journal record counts for the file that it goes to."""
        files = self._files
        with files.lock:
            view = files.writer.view
            logged = self._logged()
            return Traces(
                entries=(view.get(entry_id) is not None) + len(view.parts_of(entry_id)),
                other_lines=len(_other_lines(files.image, entry_id)),
                archive=_count(files.archive.lines(), entry_id),
                conflicts=_count(files.conflicts.lines(), entry_id),
                changes=sum(any(_is_change(c, entry_id) for c in one.changes) for one in logged),
                kept_files=_count(
                    [line for path in self._kept() for line in _lines(files, path)], entry_id
                ),
            )

    def erase(self, entry_id: str, origin: Origin) -> Traces:
        """Remove an entry from every file of the store, and return where it was.

        Raises:
            ConflictError: the file is being edited or held; the entry may be gone from some files.
            OSError: a file cannot be written; another call finishes the work.
        """
        files = self._files
        with files.lock:
            found, ids = self.find(entry_id), self._ids(entry_id)
            files.writer.commit(origin, lambda draft: _remove(draft, entry_id))
            self._fold(entry_id)
            take_late_writes(files, is_last=True)
            files.changes.drop(entry_id)
            files.folds.drop(ids)
            for one in ids:
                files.features.forget(one)
            files.archive.drop(lambda line: is_about(line, entry_id))
            files.conflicts.drop(lambda line: is_about(line, entry_id))
            for path in self._kept():
                rest = [line for line in _lines(files, path) if not is_about(line, entry_id)]
                files.disk.put(path, b"".join(line + b"\n" for line in rest))
            for path in files.own_folder.glob("journal.wal.damaged-*"):
                data = files.disk.read(path)
                if any(msgspec.json.encode(one) in data for one in ids):
                    files.disk.remove(path)  # its readable records were replayed
            for folder in (files.own_folder, *files.features.folders()):
                for path in folder.glob(f"*{SUFFIX}"):
                    files.disk.remove(path)  # it cannot be checked for the entry
            return found

    def _fold(self, entry_id: str) -> None:
        """Write file, base and journal without the entry."""
        files = self._files
        for _ in range(_ATTEMPTS):
            _drop_other_lines(files, entry_id)
            files.needs_base = True
            if fold(files) is FoldOutcome.FOLDED:
                return
            reload(files)
        raise ConflictError(
            f"entries.jsonl of {files.project} is being edited or held: try again when it is not"
        )

    def _logged(self) -> list[ChangeSet]:
        files = self._files
        logged = [one.change_set for one in files.changes.records()]
        return logged + [one.change_set for one in files.writer.uncut]

    def _ids(self, entry_id: str) -> set[str]:
        """Return the id, and those of all chunks that any file of the store names as its own."""
        files = self._files
        changed = (change.entry for one in self._logged() for change in one.changes)
        kept = (line for path in self._kept() for line in _lines(files, path))
        places = (files.archive.lines(), files.conflicts.lines(), changed, kept)
        found = {one for lines in places for one in part_ids(lines, entry_id)}
        living = (one.header.id for one in files.writer.view.parts_of(entry_id))
        return {entry_id, *found, *living}

    def _kept(self) -> list[Path]:
        return sorted(self._files.own_folder.glob("kept-*.jsonl"))


def _is_change(change: Change, entry_id: str) -> bool:
    return change.id == entry_id or is_part_line(change.entry, entry_id)


def _remove(draft: Draft, entry_id: str) -> None:
    draft.remove(entry_id, reason=REASON, keep=False, force=True)


def _other_lines(image: Image, entry_id: str) -> list[int]:
    return [
        index
        for index in image.other_lines()
        if image.raws[index] and is_about(image.raws[index], entry_id)
    ]


def _drop_other_lines(files: StoreFiles, entry_id: str) -> None:
    """Remove unreadable and repeated lines of the entry from what the next fold copies."""
    image = files.image
    gone = set(_other_lines(image, entry_id))
    image.kept.pop(entry_id, None)
    if not gone:
        return
    left = [index for index in range(len(image.raws)) if index not in gone]
    places = {old: new for new, old in enumerate(left)}
    files.image = Image(
        ids=[image.ids[index] for index in left],
        raws=[image.raws[index] for index in left],
        problems=[
            one.moved_by(places[one.index] - one.index)
            for one in image.problems
            if one.index in places
        ],
        kept=image.kept,
        identity=image.identity,
    )


def _count(lines: list[bytes], entry_id: str) -> int:
    return sum(is_about(line, entry_id) for line in lines)


def _lines(files: StoreFiles, path: Path) -> list[bytes]:
    return [line for line in files.disk.read(path).split(b"\n") if line]
