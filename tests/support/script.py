"""A short fixed story of a store: writes, folds with writes in them, a hand edit, deletions.

The same story is told to a process that is killed at each system call, to disks that fail at each
sync or write, and to a recorder for power loss. Every change is announced before and confirmed
after it (`i <number>`, `a <number>`), so that after any end the store must hold the state behind
the last confirmed change, or the announced one's. As a program it tells the story on its output:
`python -m tests.support.script FOLDER [careless | mending]`.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path

from qms.disk.disk import Disk
from qms.memory.errors import StorageFullError
from qms.store.memory_store import MemoryStore
from qms.store.options import FoldOutcome
from tests.support.stores import (
    Changes,
    State,
    UnsyncedDisk,
    abandon,
    applied,
    archived_texts,
    assert_files_whole,
    assert_state,
    open_store,
    state_of,
    write,
)

CHANGES: list[Changes] = [
    {"a": "a1", "b": "b1", "c": "c1", "d": "d1"},
    {"a": "a2"},
    {"b": "b2"},
    {"c": "c by hand", "by-hand": "added by hand", "d": None},
    {"c": "c2"},
    {"b": None},
    {"e": "e1", "f": "f1"},
    {"b": "b again", "e": "e2"},
    {"f": None},
    {"a": "a3"},
]
"""What changes, in order; the fourth is a person's."""

STATES: list[State] = [{}]
"""What the store holds after each number of changes."""
for _changes in CHANGES:
    STATES.append(applied(STATES[-1], _changes))

DELETED = ["d1", "b2", "f1"]
"""The texts that have to be in the archive at the end."""

_ATTEMPTS = 8


class ScriptedDisk(Disk):
    """A disk that lets something happen in the middle of a fold."""

    def __init__(self) -> None:
        self.during_fold: Callable[[], None] | None = None

    def open(self, path: Path, *, create: bool = False, mode: int = 0o600) -> int:
        if path.name == "entries.jsonl.tmp" and self.during_fold is not None:
            happen, self.during_fold = self.during_fold, None
            happen()
        return super().open(path, create=create, mode=mode)


class Teller:
    """Tells the story to one store; `mend` is what is done about a disk that failed."""

    def __init__(
        self,
        folder: Path,
        disk: ScriptedDisk,
        *,
        hear: Callable[[str], object] = lambda line: None,
        mend: Callable[[MemoryStore], object] | None = None,
        saved: Callable[[Path], object] = lambda path: None,
        beginning_only: bool = False,
    ) -> None:
        self.folder = folder
        self.disk = disk
        self.refusals = 0
        self.postponed = 0
        self.told = 0
        self._hear = hear
        self._mend = mend
        self._saved = saved
        self._beginning_only = beginning_only
        self._store: MemoryStore | None = None

    @property
    def store(self) -> MemoryStore:
        assert self._store is not None
        return self._store

    def tell(self) -> None:
        self._store = open_store(self.folder, disk=self.disk)
        self._write(0)
        self._fold()
        self._write(1)
        self._fold(meanwhile=[2])
        if self._beginning_only:
            abandon(self._store)
            return
        self._edit_by_hand(3)
        self._fold(meanwhile=[4])
        self._write(5)
        self._write(6)
        self._fold(meanwhile=[7, 8])
        self._write(9)
        self.store.close()

    def _write(self, number: int) -> None:
        self._hear(f"i {number}")
        for _ in range(_ATTEMPTS):
            try:
                write(self.store, CHANGES[number])
                break
            except StorageFullError:
                self.refusals += 1
                assert self.store.is_read_only
                assert state_of(self.store) == STATES[number], "a refused change is visible"
                self._mend_disk()
        else:
            raise AssertionError("the store never took the change")
        assert state_of(self.store) == STATES[number + 1]
        self._confirm(number)

    def _fold(self, meanwhile: list[int] | None = None) -> None:
        """Fold, with changes that are made while the fold is under way."""

        def write_meanwhile() -> None:
            for number in meanwhile or []:
                self._write(number)

        self.disk.during_fold = write_meanwhile
        for _ in range(_ATTEMPTS):
            outcome = self.store.fold()
            if outcome in (FoldOutcome.FOLDED, FoldOutcome.NOTHING):
                return
            self.postponed += 1
            assert state_of(self.store) == STATES[self.told]
            if outcome is FoldOutcome.FILE_CHANGED:
                self.store.reload()
            else:
                self._mend_disk()
        raise AssertionError("the fold never came to pass")

    def _edit_by_hand(self, number: int) -> None:
        self._hear(f"i {number}")
        self._saved(save_by_hand(self.folder, CHANGES[number]))
        for _ in range(_ATTEMPTS):
            if self.store.reload().settled:
                break
            self.postponed += 1
            self._mend_disk()
        else:
            raise AssertionError("the hand edit was never taken")
        assert state_of(self.store) == STATES[number + 1]
        self._confirm(number)

    def _confirm(self, number: int) -> None:
        self.told = number + 1
        self._hear(f"a {number}")

    def _mend_disk(self) -> None:
        if self._mend is None:
            raise AssertionError("the disk failed and nobody mends it")
        self._mend(self.store)


def save_by_hand(folder: Path, changes: Changes) -> Path:
    """Save the file by rename as an editor does, with these changes and no other."""
    path = folder / "entries.jsonl"
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        local = line.partition('"id":"p:')[2].partition('"')[0]
        if local not in changes:
            lines.append(line)
        elif (text := changes[local]) is not None:
            head, _, tail = line.partition('{"text":"')
            lines.append(f'{head}{{"text":"{text}"{tail[tail.index("}") :]}')
    known = "\n".join(lines)
    lines += [
        f'{{"id":"p:{local}","kind":"note","body":{{"text":"{text}"}}}}'
        for local, text in changes.items()
        if text is not None and f'"id":"p:{local}"' not in known
    ]
    saved = folder / "editor.swp"
    saved.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return saved.replace(path)


def allowed_states(report: list[str]) -> list[State]:
    """Return what a store may hold when its story broke off after this report."""
    confirmed = sum(line.startswith("a") for line in report)
    announced = sum(line.startswith("i") for line in report)
    return [STATES[confirmed]] if confirmed == announced else STATES[confirmed : confirmed + 2]


def assert_story_whole(folder: Path) -> None:
    """Check that a story told to its end left everything behind it, then and after a fold."""
    assert_state(folder, STATES[-1])
    open_store(folder, disk=UnsyncedDisk()).close()
    assert_state(folder, STATES[-1])
    assert_files_whole(folder)
    assert sorted(archived_texts(folder)) == sorted(DELETED)


def deleted_by(state: State) -> set[str]:
    """Return the texts that were deleted on the way to a state of the story."""
    seen: set[str] = set()
    for before, changes in zip(STATES[: STATES.index(state)], CHANGES, strict=False):
        seen |= {before[key] for key, text in changes.items() if text is None}
    return seen


class CarelessDisk(ScriptedDisk):
    """A disk without the guard: a file is removed before another takes its place."""

    def rename(self, source: Path, target: Path) -> None:
        self.remove(target)
        super().rename(source, target)


def main() -> None:
    folder, mode = Path(sys.argv[1]), sys.argv[2:]
    disk = CarelessDisk() if mode == ["careless"] else ScriptedDisk()
    mend = (lambda store: _say(f"m {store.recover()}")) if mode == ["mending"] else None
    Teller(folder, disk, hear=_say, mend=mend).tell()


def _say(line: str) -> None:
    os.write(1, line.encode("ascii") + b"\n")


if __name__ == "__main__":
    main()
