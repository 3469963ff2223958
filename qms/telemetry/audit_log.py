"""The audit log: every mutation as one record of a hash chain in `logs/audit.jsonl`.

The journals are its queue. A record is appended when its commit is visible, and `complete` adds
missing records before a journal is cut: a disk that refuses writes here never fails a commit, and
records that are not synced may be rolled back and written again. `audit.head` says how far the log
is synced; that shortens the start and reveals lines that were removed at the end.

An action on the server itself, or on a project as a whole, is in no journal. Such an event has a
number of its own sequence, and is kept in RAM until it is synced.
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

from qms.disk.damage import set_aside
from qms.disk.disk import Disk
from qms.disk.regular_files import read_regular, regular_reader
from qms.memory.changes import ChangeSet
from qms.memory.errors import UNDECODABLE
from qms.telemetry.audit_chain import (
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

MAX_WAITING_CHANGES = 20_000
"""Changes kept in RAM while the disk refuses them; `complete` takes the rest from the journal."""

MAX_WAITING_EVENTS = 1_000
"""Events of the administration kept in RAM while the disk refuses them."""

log = logging.getLogger(__name__)


class _Head(msgspec.Struct, frozen=True, rename="camel"):
    """A point up to which the log is complete; `marks` is the last record of each sequence."""

    end: ChainEnd = ChainEnd()
    marks: dict[str, int] = {}


class AuditLog:
    """The audit log of one process; any thread may call any method."""

    def __init__(
        self,
        path: Path,
        disk: Disk,
        *,
        max_waiting_changes: int = MAX_WAITING_CHANGES,
        max_waiting_events: int = MAX_WAITING_EVENTS,
    ) -> None:
        self._path = path
        self._max_waiting_changes = max_waiting_changes
        self._max_waiting_events = max_waiting_events
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
        self.fault: str | None = None
        """The reason why the log was altered, if a check has found one."""
        self._synced = _read_head(self._head_path, disk)
        self._end = self._synced.end
        self._marks = dict(self._synced.marks)
        self._adopt_file()

    @property
    def path(self) -> Path:
        """Return the path of the log."""
        return self._path

    @property
    def count(self) -> int:
        """Return the number of records."""
        return self._end.seq

    def opened(self, project: str, sequence: int) -> None:
        """Register a store whose last record is `sequence`.

        A store with a lower sequence than the audit log was created again: its numbers restart.
        """
        with self._lock:
            if self._marks.get(project, 0) > sequence:
                log.warning(
                    "store numbers restarted", extra={"project": project, "sequence": sequence}
                )
                self._marks[project] = 0

    def append(self, project: str, store_seq: int, changes: ChangeSet) -> None:
        """Record a commit without waiting for the disk; a failed write is retried later.

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
        """Record an event, which is in no journal; a failed write is retried later."""
        with self._lock:
            last = self._unsynced_events[-1] if self._unsynced_events else None
            number = last.store_seq if last else self._marks.get(NO_PROJECT, 0)
            if len(self._unsynced_events) >= self._max_waiting_events:
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
        """Return after these records of the project's journal are in the log and synced.

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
        found = verify_file(self._path, *known)
        self.fault = None if found is None else f"line {found.line}: {found.reason}"
        return found

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
        # Newer commits may have been skipped since then: the next part of the journal has them.
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
            log.info("audit log writable again")

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
                self._roll_back()
            raise
        if self._was_replaced(descriptor):
            with self._lock:
                self._roll_back()
                self._adopt_file()
            raise OSError(errno.ESTALE, "the audit log was replaced", self._path.name)
        self._is_new = False
        self._synced = head
        with self._lock:
            self._drop_synced_events()
        self._write_head(head)

    def _roll_back(self) -> None:
        """Discard unsynced records: after a failed sync the content of the disk is unknown."""
        for project, mark in self._marks.items():
            if project != NO_PROJECT and mark > self._synced.marks.get(project, 0):
                self._behind[project] = max(mark, self._behind.get(project, 0))
        # Events that wait already are now in the queue twice: the second is skipped by its number.
        self._waiting.extendleft(reversed(self._unsynced_events))
        self._end, self._marks = self._synced.end, dict(self._synced.marks)
        self._is_torn = True
        # A failed sync is not retried on the same descriptor: it would report success.
        self._close_file()

    def _drop_synced_events(self) -> None:
        synced = self._synced.marks.get(NO_PROJECT, 0)
        while self._unsynced_events and self._unsynced_events[0].store_seq <= synced:
            self._unsynced_events.popleft()

    def _adopt_file(self) -> None:
        found, self._is_torn, fault = _find_end(self._path, self._synced)
        self.fault = fault or self.fault
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
            log.warning("audit log not writable", extra={"reason": error.strerror})


def _read_head(path: Path, disk: Disk) -> _Head:
    try:
        return msgspec.json.decode(read_regular(path), type=_Head)
    except FileNotFoundError:
        return _Head()
    except OSError as error:
        log.warning("audit head not read", extra={"reason": error.strerror})
        return _Head()
    except UNDECODABLE as error:
        set_aside(disk, path, error)
        return _Head()


def _find_end(path: Path, head: _Head) -> tuple[_Head, bool, str | None]:
    """Return the end of the log, whether a torn line after it must be cut, and any fault."""
    try:
        with regular_reader(path) as file:
            if _reaches(file, head.end):
                file.seek(head.end.size)
                return _read_on(file, head)
            file.seek(0)
            found, is_torn, fault = _read_on(file, _Head())
    except FileNotFoundError:
        found, is_torn, fault = _Head(), False, None
    if head.end.seq == 0:
        return found, is_torn, fault
    # Continuing from the known end keeps the break visible to `verify` forever.
    log.error("audit log altered", extra={"records": found.end.seq})
    end = ChainEnd(max(found.end.seq, head.end.seq), head.end.hash, found.end.size)
    fault = f"record {head.end.seq} is not where it was written: run `memoryctl audit verify`"
    return _Head(end, {**found.marks, **head.marks}), is_torn, fault


def _reaches(file: BinaryIO, end: ChainEnd) -> bool:
    """Say whether the file has this record at its recorded offset."""
    if end.seq == 0:
        return True
    closing = closes_with(end)
    file.seek(max(0, end.size - len(closing)))
    return file.read(len(closing)) == closing


def _read_on(file: BinaryIO, start: _Head) -> tuple[_Head, bool, str | None]:
    fault = None
    seq, digest, size = start.end.seq, start.end.hash, start.end.size
    marks = dict(start.marks)
    for line in file:
        if not line.endswith(b"\n"):
            log.warning("torn audit record cut", extra={"bytes": len(line)})
            return _Head(ChainEnd(seq, digest, size), marks), True, fault
        size += len(line)
        # A line that is not a record stays: `verify` names it, and the chain skips it.
        if (record := read_line(line)) is not None:
            seq, digest = record.seq, record.hash
            marks[record.sequence] = record.store_seq
        else:
            fault = f"the line after record {seq} is not a record: run `memoryctl audit verify`"
    return _Head(ChainEnd(seq, digest, size), marks), False, fault
