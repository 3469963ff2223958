"""Erasing an entry from the files of a store: for what must not be found there any more.

Everything else in the house keeps what leaves; this is the one place that does not.
"""

from pathlib import Path

import msgspec

from qms.domain.errors import ConflictError
from qms.store.draft import Draft
from qms.store.file_side import FileSide
from qms.store.fold import fold
from qms.store.image import Image
from qms.store.late_writes import take_late_writes
from qms.store.options import FoldOutcome, Origin
from qms.store.reload import reload

REASON = "erased"

_ATTEMPTS = 5


class Traces(msgspec.Struct, frozen=True, rename="camel"):
    """In how many places of a store an entry was found."""

    entries: int = 0
    other_lines: int = 0
    """Lines of the file that are no entries, and carry its id."""
    archive: int = 0
    conflicts: int = 0
    changes: int = 0
    kept_files: int = 0

    @property
    def total(self) -> int:
        """Return how many there are in all."""
        return sum(msgspec.structs.astuple(self))


class _Entry(msgspec.Struct, frozen=True):
    id: str = ""


class _Line(msgspec.Struct, frozen=True):
    id: str = ""
    entry: _Entry = _Entry()


def is_about(line: bytes, entry_id: str) -> bool:
    """Say whether a line is an entry, or keeps one; an unreadable one that names it counts."""
    try:
        found = msgspec.json.decode(line, type=_Line)
    except msgspec.MsgspecError:
        return msgspec.json.encode(entry_id) in line
    return entry_id in (found.id, found.entry.id)


class Eraser:
    """What takes an entry out of all files of one store."""

    def __init__(self, side: FileSide) -> None:
        self._side = side

    def find(self, entry_id: str) -> Traces:
        """Return where an entry is found; what is in the journal counts where it will go."""
        side = self._side
        with side.lock:
            record = side.writer.view.get(entry_id)
            logged = [one.change_set for one in side.changes.records()]
            logged += [one.change_set for one in side.writer.uncut]
            return Traces(
                entries=int(record is not None),
                other_lines=len(_other_lines(side.image, entry_id)),
                archive=_count(side.archive.lines(), entry_id),
                conflicts=_count(side.conflicts.lines(), entry_id),
                changes=sum(any(c.id == entry_id for c in one.changes) for one in logged),
                kept_files=_count(
                    [line for path in self._kept() for line in _lines(side, path)], entry_id
                ),
            )

    def erase(self, entry_id: str, origin: Origin) -> Traces:
        """Take an entry out of every file of the store, and return where it was.

        Raises:
            ConflictError: the file is being edited or held; the entry may be gone from some files.
            OSError: a file cannot be written; doing it again does the rest.
        """
        side = self._side
        with side.lock:
            found = self.find(entry_id)
            side.writer.commit(origin, lambda draft: _remove(draft, entry_id))
            self._fold(entry_id)
            take_late_writes(side, is_last=True)
            side.changes.drop(entry_id)
            side.proposals.forget(entry_id)
            side.archive.drop(lambda line: is_about(line, entry_id))
            side.conflicts.drop(lambda line: is_about(line, entry_id))
            for path in self._kept():
                rest = [line for line in _lines(side, path) if not is_about(line, entry_id)]
                side.disk.put(path, b"".join(line + b"\n" for line in rest))
            for path in side.own_folder.glob("journal.wal.damaged-*"):
                if msgspec.json.encode(entry_id) in side.disk.read(path):
                    side.disk.remove(path)  # it was replayed as far as it could be read
            return found

    def _fold(self, entry_id: str) -> None:
        """Write file, base and journal without the entry."""
        side = self._side
        for _ in range(_ATTEMPTS):
            _drop_other_lines(side, entry_id)
            side.needs_base = True
            if fold(side) is FoldOutcome.FOLDED:
                return
            reload(side)
        raise ConflictError(
            f"entries.jsonl of {side.project} is being edited or held: try again when it is not"
        )

    def _kept(self) -> list[Path]:
        return sorted(self._side.own_folder.glob("kept-*.jsonl"))


def _remove(draft: Draft, entry_id: str) -> None:
    draft.remove(entry_id, reason=REASON, keep=False)


def _other_lines(image: Image, entry_id: str) -> list[int]:
    return [
        index
        for index in image.other_lines()
        if image.raws[index] and is_about(image.raws[index], entry_id)
    ]


def _drop_other_lines(side: FileSide, entry_id: str) -> None:
    """Take unreadable and outlived lines of the entry out of what the next fold copies."""
    image = side.image
    gone = set(_other_lines(image, entry_id))
    image.kept.pop(entry_id, None)
    if not gone:
        return
    left = [index for index in range(len(image.raws)) if index not in gone]
    places = {old: new for new, old in enumerate(left)}
    side.image = Image(
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


def _lines(side: FileSide, path: Path) -> list[bytes]:
    return [line for line in side.disk.read(path).split(b"\n") if line]
