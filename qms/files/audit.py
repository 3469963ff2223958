"""The audit log: every mutation as one record of a hash chain in `logs/audit.jsonl`.

The journals are its queue. A record is appended when its commit is visible, and `complete` brings
what is missing before a journal is cut: a disk that refuses writes here never fails a commit, and
whatever is not synced may be taken back and written again. How far the log is synced stands beside
it in `audit.head`; that shortens the start and betrays lines that were removed at the end.

What is done to the server itself, or to a project as a whole, stands in no journal. Such an event
is numbered here, apart from every project, and kept in RAM until it is synced.
"""

import errno
import logging
import os
import threading
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

import msgspec

from qms.domain.changes import ChangeSet
from qms.files.audit_chain import (
    NO_PROJECT,
    AuditEvent,
    AuditRecord,
    BadRecord,
    ChainEnd,
    closes_with,
    event_record,
    link,
    read_line,
    unlinked,
    verify_file,
)
from qms.fsio.disk import Disk

MAX_WAITING_CHANGES = 20_000
"""Changes kept in RAM while the disk refuses them; `complete` takes the rest from the journal."""

MAX_WAITING_EVENTS = 1_000
"""Events of the administration kept in RAM while the disk refuses them."""

log = logging.getLogger(__name__)


class _Head(msgspec.Struct, frozen=True, rename="camel"):
    """A point up to which the log is whole; `marks` is the last record of each sequence there."""

    end: ChainEnd = ChainEnd()
    marks: dict[str, int] = {}


class AuditLog:
    """The audit log of one process; any thread may call any method."""

    def __init__(
        self, path: Path, disk: Disk, *, max_waiting_changes: int = MAX_WAITING_CHANGES
    ) -> None:
        self._path = path
        self._max_waiting_changes = max_waiting_changes
        self._head_path = path.with_name("audit.head")
        self._disk = disk
        # Held while syncing, so that appends do not wait for the disk; taken before `_lock`.
        self._sync_lock = threading.Lock()
        self._lock = threading.Lock()
        self._descriptor: int | None = None
        self._waiting: deque[AuditRecord] = deque()
        self._unsynced_events: deque[AuditRecord] = deque()
        self._behind: dict[str, int] = {}
        self._is_failing = False
        self._is_new = False
        self._is_torn = False
        self._synced = _read_head(self._head_path)
        self._end = self._synced.end
        self._marks = dict(self._synced.marks)
        self._adopt_file()

    @property
    def path(self) -> Path:
        """Return where the log is."""
        return self._path

    @property
    def count(self) -> int:
        """Return how many records were written."""
        return self._end.seq

    def opened(self, project: str, sequence: int) -> None:
        """Take note of a store whose last record is `sequence`.

        A store that knows less than its audit log was made anew, and its numbers begin again.
        """
        with self._lock:
            if self._marks.get(project, 0) > sequence:
                log.warning("store began anew", extra={"project": project, "sequence": sequence})
                self._marks[project] = 0

    def append(self, project: str, store_seq: int, changes: ChangeSet) -> None:
        """Record a commit without waiting for the disk; what fails now is tried again later.

        Commits of one project come in the order of their sequence.
        """
        with self._lock:
            if project in self._behind or self._is_overfull():
                self._behind[project] = store_seq
                return
            self._waiting.append(unlinked(project, store_seq, changes))
            try:
                self._write_waiting()
            except OSError as error:
                self._note_failure(error)

    def note(self, event: AuditEvent) -> None:
        """Record what stands in no journal; a disk that refuses it now is tried again later."""
        with self._lock:
            last = self._unsynced_events[-1] if self._unsynced_events else None
            number = last.store_seq if last else self._marks.get(NO_PROJECT, 0)
            if len(self._unsynced_events) >= MAX_WAITING_EVENTS:
                log.error("audit event lost", extra={"command": event.command, "user": event.user})
                return
            record = event_record(event, number + 1)
            self._unsynced_events.append(record)
            self._waiting.append(record)
        try:
            self.sync()
        except OSError as error:
            self._note_failure(error)

    def complete(self, project: str, records: Iterable[tuple[int, ChangeSet]]) -> None:
        """Return after these records of the project's journal are here, and on stable storage.

        Raises:
            OSError: they are not; the journal must not be cut.
        """
        with self._sync_lock:
            try:
                with self._lock:
                    self._write_waiting()
                    self._write_missing(project, records)
                self._make_durable()
            except OSError as error:
                self._note_failure(error)
                raise

    def sync(self) -> None:
        """Return after everything that was appended is on stable storage.

        Raises:
            OSError: it is not.
        """
        with self._sync_lock:
            with self._lock:
                self._write_waiting()
            self._make_durable()

    def verify(self) -> BadRecord | None:
        """Return the first record that was edited, removed or moved, or None."""
        with self._lock:
            known = (self._synced.end, self._end)
        return verify_file(self._path, *known)

    def close(self) -> None:
        """Sync and close the file."""
        try:
            self.sync()
        except OSError as error:
            self._note_failure(error)
        with self._sync_lock, self._lock:
            self._close_file()

    def _is_overfull(self) -> bool:
        return sum(len(record.changes) for record in self._waiting) > self._max_waiting_changes

    def _write_waiting(self) -> None:
        while self._waiting:
            self._write(self._waiting[0])
            self._waiting.popleft()

    def _write_missing(self, project: str, records: Iterable[tuple[int, ChangeSet]]) -> None:
        last = 0
        for store_seq, changes in records:
            self._write(unlinked(project, store_seq, changes))
            last = store_seq
        # Newer commits may have been passed over meanwhile: the next part of the journal has them.
        if last >= self._behind.get(project, 0):
            self._behind.pop(project, None)

    def _write(self, record: AuditRecord) -> None:
        if record.store_seq <= self._marks.get(record.sequence, 0):
            return
        descriptor = self._ready()
        line, end = link(self._end, record)
        try:
            self._disk.write_all(descriptor, line)
        except OSError:
            self._is_torn = True
            raise
        self._end = end
        self._marks[record.sequence] = record.store_seq
        if self._is_failing:
            self._is_failing = False
            log.info("audit log takes records again")

    def _ready(self) -> int:
        """Return a descriptor of a file that ends with the last record."""
        if self._descriptor is None:
            self._descriptor = self._open_file()
        if self._is_torn:
            self._disk.truncate(self._descriptor, self._end.size)
            self._is_torn = False
        return self._descriptor

    def _open_file(self) -> int:
        self._disk.make_folder(self._path.parent)
        self._is_new = self._is_new or not self._path.exists()
        descriptor = self._disk.open(self._path, create=True)
        size = os.fstat(descriptor).st_size
        if size < self._end.size or not self._is_torn:
            self._end = msgspec.structs.replace(self._end, size=size)
        return descriptor

    def _make_durable(self) -> None:
        with self._lock:
            if self._end.seq == self._synced.end.seq:
                return
            descriptor = self._ready()
            head = _Head(self._end, dict(self._marks))
        try:
            self._disk.sync(descriptor)
            if self._is_new:
                self._disk.sync_folder(self._path.parent)
        except OSError:
            with self._lock:
                self._take_back()
            raise
        if self._was_replaced(descriptor):
            with self._lock:
                self._take_back()
                self._adopt_file()
            raise OSError(errno.ESTALE, "the audit log was replaced", self._path.name)
        self._is_new = False
        self._synced = head
        with self._lock:
            self._drop_synced_events()
        self._write_head(head)

    def _take_back(self) -> None:
        """Forget what is not synced: after a failed sync nobody knows what the disk holds of it."""
        for project, mark in self._marks.items():
            if project != NO_PROJECT and mark > self._synced.marks.get(project, 0):
                self._behind[project] = max(mark, self._behind.get(project, 0))
        # Those that wait already come twice now: the second is passed over by its number.
        self._waiting.extendleft(reversed(self._unsynced_events))
        self._end, self._marks = self._synced.end, dict(self._synced.marks)
        self._is_torn = True
        # A sync that failed is not tried again on its descriptor: it would report success.
        self._close_file()

    def _drop_synced_events(self) -> None:
        synced = self._synced.marks.get(NO_PROJECT, 0)
        while self._unsynced_events and self._unsynced_events[0].store_seq <= synced:
            self._unsynced_events.popleft()

    def _adopt_file(self) -> None:
        found, self._is_torn = _find_end(self._path, self._synced)
        self._end, self._marks = found.end, dict(found.marks)

    def _was_replaced(self, descriptor: int) -> bool:
        identity = self._disk.identity(self._path)
        return identity is None or identity.inode != os.fstat(descriptor).st_ino

    def _write_head(self, head: _Head) -> None:
        try:
            self._disk.put(self._head_path, msgspec.json.encode(head) + b"\n")
        except OSError as error:
            # The log itself is safe: an older head only makes the next start read more of it.
            log.warning("audit head not written", extra={"reason": error.strerror})

    def _close_file(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            self._disk.close(descriptor)

    def _note_failure(self, error: OSError) -> None:
        if not self._is_failing:
            self._is_failing = True
            log.warning("audit log does not take records", extra={"reason": error.strerror})


def _read_head(path: Path) -> _Head:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Head)
    except FileNotFoundError:
        return _Head()
    except (OSError, msgspec.DecodeError):
        log.warning("audit head is unreadable", extra={"file": path.name})
        return _Head()


def _find_end(path: Path, head: _Head) -> tuple[_Head, bool]:
    """Return where the log ends, and whether a torn line behind it is to be cut."""
    try:
        with path.open("rb") as file:
            if _reaches(file, head.end):
                file.seek(head.end.size)
                return _read_on(file, head)
            file.seek(0)
            found, is_torn = _read_on(file, _Head())
    except FileNotFoundError:
        found, is_torn = _Head(), False
    if head.end.seq == 0:
        return found, is_torn
    # Going on from the end that was known keeps the break visible to `verify` for ever.
    log.error("audit log is not as it was written", extra={"records": found.end.seq})
    end = ChainEnd(max(found.end.seq, head.end.seq), head.end.hash, found.end.size)
    return _Head(end, {**found.marks, **head.marks}), is_torn


def _reaches(file: BinaryIO, end: ChainEnd) -> bool:
    """Say whether the file holds this record where it was written."""
    if end.seq == 0:
        return True
    closing = closes_with(end)
    file.seek(max(0, end.size - len(closing)))
    return file.read(len(closing)) == closing


def _read_on(file: BinaryIO, start: _Head) -> tuple[_Head, bool]:
    seq, digest, size = start.end.seq, start.end.hash, start.end.size
    marks = dict(start.marks)
    for line in file:
        if not line.endswith(b"\n"):
            log.warning("torn audit record cut", extra={"bytes": len(line)})
            return _Head(ChainEnd(seq, digest, size), marks), True
        size += len(line)
        # A line that is no record stays: `verify` names it, and the chain goes on around it.
        if (record := read_line(line)) is not None:
            seq, digest = record.seq, record.hash
            marks[record.sequence] = record.store_seq
    return _Head(ChainEnd(seq, digest, size), marks), False
