"""Stores for tests: a settable clock, entries, and one store in a folder of its own."""

import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from qms.disk.disk import Disk
from qms.memory.access import AccessTier
from qms.memory.entry import Document
from qms.memory.limits import DEFAULT_LIMITS
from qms.memory.validation import check, normalise
from qms.store.draft import Draft
from qms.store.memory_store import MemoryStore
from qms.store.options import FoldOutcome, Origin, StoreOptions

PROJECT = "p"
NOW = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
EARLIER = "2026-01-01T00:00:00.000Z"


class Clock:
    """A clock that stands still until it is told the time."""

    def __init__(self, now: datetime = NOW) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **units: float) -> None:
        """Move by a `timedelta` given by its keywords; negative ones go back."""
        self.now += timedelta(**units)


def entry(local: str = "a", /, **overrides: Any) -> Document:
    """Return a valid fact; an override of `...` takes the field away."""
    document: Document = {
        "schemaVersion": 1,
        "id": f"{PROJECT}:{local}",
        "kind": "fact",
        "title": f"Title of {local}",
        "body": {"statement": f"Statement of {local}"},
        "timestamps": {"createdUtc": EARLIER, "updatedUtc": EARLIER},
    }
    document.update(overrides)
    return {key: value for key, value in document.items() if value is not ...}


def line_of(document: Document) -> bytes:
    """Return a document as a line of the file, without its newline."""
    return msgspec.json.encode(document)


def statement(local: str, text: str, **overrides: Any) -> Document:
    """Return a fact with the given statement."""
    return entry(local, body={"statement": text}, **overrides)


class StoreBox:
    """One store in its own folder, opened and reopened at will, and a person at its file."""

    def __init__(
        self,
        root: Path,
        *,
        clock: Clock | None = None,
        disk: Disk | None = None,
        options: StoreOptions | None = None,
        project: str = PROJECT,
    ) -> None:
        self.folder = root / "MemoryStores" / project
        self.backups = root / "Backups"
        self.path = self.folder / "entries.jsonl"
        self.own = self.folder / ".qms"
        self.clock = clock or Clock()
        self.disk = disk or Disk()
        self.options = options or StoreOptions()
        self.project = project
        self._store: MemoryStore | None = None
        self._saves = 0

    @property
    def store(self) -> MemoryStore:
        """Return the open store, opening it when it is not."""
        return self._store or self.open()

    def open(self, disk: Disk | None = None) -> MemoryStore:
        """Open the store; another that is still open is left as a killed process leaves it."""
        self._store = MemoryStore.open(
            self.folder,
            self.project,
            disk=disk or self.disk,
            options=self.options,
            backup_root=self.backups,
            clock=self.clock,
        )
        return self._store

    def close(self) -> None:
        """Close the store as a clean stop does."""
        if self._store is not None:
            self._store.close()
            self._store = None

    def reopen(self) -> MemoryStore:
        """Stop cleanly and start again."""
        self.close()
        return self.open()

    def crash(self) -> None:
        """Forget the open store without closing it: what is on disk is all there is."""
        self._store = None

    def origin(self, command: str = "test") -> Origin:
        """Return who writes here, now."""
        return Origin(command=command, user="tester", at_utc=self.clock(), right=AccessTier.ADMIN)

    def put(self, *documents: Document) -> None:
        """Write documents in one change set; each is checked as a command would."""

        def plan(draft: Draft) -> None:
            for document in documents:
                check(document, self.project, DEFAULT_LIMITS)
                draft.put(normalise(document))

        self.store.commit(self.origin(), plan)

    def remove(self, *locals_: str) -> int:
        """Delete entries by their local ids in one change set; return how many were there."""

        def plan(draft: Draft) -> int:
            before = draft.count
            for local in locals_:
                draft.remove(f"{self.project}:{local}")
            return before - draft.count

        return self.store.commit(self.origin(), plan)

    def fold(self) -> None:
        """Fold, and expect it to come to pass."""
        assert self.store.fold() in (FoldOutcome.FOLDED, FoldOutcome.NOTHING)

    def get(self, local: str) -> Document | None:
        """Return an entry of the present view, or None."""
        record = self.store.view.get(f"{self.project}:{local}")
        return record.document() if record else None

    def text(self, local: str) -> str | None:
        """Return the statement of an entry, or None when it is not there."""
        document = self.get(local)
        return document["body"]["statement"] if document else None

    def documents(self) -> dict[str, Document]:
        """Return every entry of the present view by its local id."""
        records = self.store.view.records.items()
        return {key.partition(":")[2]: record.document() for key, record in records}

    def lines(self) -> list[bytes]:
        """Return the lines of the file; only the newline byte ends one."""
        return self.path.read_bytes().removesuffix(b"\n").split(b"\n")

    def save(self, data: bytes) -> None:
        """Save the file as an editor does that writes in place."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.path.write_bytes(data)
        self._move_time()

    def save_by_rename(self, data: bytes) -> None:
        """Save the file as an editor does that writes a new one and renames it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        swap = self.path.with_name(".entries.jsonl.swp")
        swap.write_bytes(data)
        swap.replace(self.path)
        self._move_time()

    def save_lines(self, *lines: bytes) -> None:
        """Save the file with these lines."""
        self.save(b"".join(line + b"\n" for line in lines))

    def edit(self, change: Callable[[bytes], bytes]) -> None:
        """Read the file, change it, and save it in place."""
        self.save(change(self.path.read_bytes()))

    def codes(self) -> list[tuple[str, int | None]]:
        """Return code and line of every problem the store reports."""
        return [(problem.code, problem.line) for problem in self.store.problems()]

    def archived(self) -> list[dict[str, Any]]:
        """Return the lines of the archive."""
        path = self.folder / "archive.jsonl"
        data = path.read_bytes() if path.exists() else b""
        return [msgspec.json.decode(line) for line in data.splitlines()]

    def conflict_texts(self) -> list[str]:
        """Return the statements that gave way to a hand edit."""
        return [one["entry"]["body"]["statement"] for one in self.store.conflicts()]

    def _move_time(self) -> None:
        """Give each save a time of its own: a file system's clock ticks only every few ms."""
        self._saves += 1
        status = self.path.stat()
        at = status.st_mtime_ns + self._saves * 1_000_000
        os.utime(self.path, ns=(at, at))


@pytest.fixture
def clock() -> Clock:
    """Return a clock that a test can set."""
    return Clock()


@pytest.fixture
def tmp_store(tmp_path: Path, clock: Clock) -> Iterator[StoreBox]:
    """Return a store in a folder of its own; it opens with its first use."""
    box = StoreBox(tmp_path, clock=clock)
    yield box
    box.close()
