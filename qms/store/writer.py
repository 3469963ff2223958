"""The writer of a store: runs plans, writes the journal, publishes the next view.

After `commit` returns, the change is on stable storage and every later view shows it. `lock` is
held while the next view is made; readers only read the attribute `view`.
"""

import logging
import os
import threading
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import msgspec

from qms.disk.disk import Disk
from qms.memory.changes import TOUCH, Change, ChangeSet, Put, Remove
from qms.memory.errors import QmsError, StorageFullError, UnavailableError
from qms.store.draft import Draft
from qms.store.group_commit import GroupCommit, Ticket
from qms.store.journal import Journal, JournalRecord, Operation, encode_record
from qms.store.options import Origin, StoreOptions
from qms.store.view import Record, StoreView, ViewBuilder
from qms.telemetry import metrics

log = logging.getLogger(__name__)

T = TypeVar("T")
Listener = Callable[[int, ChangeSet], None]
Settler = Callable[[int], None]

_PROBE_BYTES = 64 * 1024


class Snapshot(msgspec.Struct, frozen=True):
    """The input of a fold, taken at one moment so that writes continue during the fold."""

    view: StoreView
    pending: dict[str, None]
    records: list[JournalRecord]
    journal_bytes: int


class Writer:
    """RAM and journal of one store; one group of plans at a time."""

    def __init__(
        self, project: str, journal: Journal, *, disk: Disk, folder: Path, options: StoreOptions
    ) -> None:
        self.lock = threading.RLock()
        self.view = StoreView(project)
        self.pending: dict[str, None] = {}
        self.uncut: list[JournalRecord] = []
        self.pending_since: float | None = None
        self.last_write_utc: datetime | None = None
        self.deaf: str | None = None
        """The exception type of the last listener that failed."""
        self.options = options
        self._journal = journal
        self._disk = disk
        self._probe = folder / "probe"
        self._group = GroupCommit(self._write_group)
        self._listeners: list[Listener] = []
        self._settlers: list[Settler] = []
        self._refusal: QmsError | None = None
        self._frozen: QmsError | None = None
        self._is_closed = False
        self._tried_at = 0.0

    @property
    def refusal(self) -> QmsError | None:
        """Return why writes are refused, or None."""
        return self._frozen or self._refusal

    @property
    def is_frozen(self) -> bool:
        """Say whether writes are refused for another reason than the disk."""
        return self._frozen is not None

    def subscribe(self, listener: Listener) -> None:
        """Call `listener` with sequence and change set once a commit is visible."""
        self._listeners.append(listener)

    def before_answer(self, settle: Settler) -> None:
        """Call `settle` with the sequence of a commit before its caller goes on.

        It runs in the caller's thread without `lock`, so that other writers need not wait for it.
        """
        self._settlers.append(settle)

    def commit(self, origin: Origin, plan: Callable[[Draft], T]) -> T:
        """Run a plan inside the writer and return its result once it is durable and visible.

        Raises:
            StorageFullError: the disk does not accept writes now.
            UnavailableError: the store has a newer schema version.
            Exception: the plan raised it; nothing of the plan was applied.
        """
        ticket = Ticket(origin, plan)
        self._group.submit(ticket)
        if ticket.error is not None:
            raise ticket.error
        if ticket.sequence is not None:
            for settle in self._settlers:
                self._guard(settle, ticket.sequence)
        result: T = ticket.result
        return result

    def attempt(self, origin: Origin, plan: Callable[[Draft], T]) -> T:
        """Run a plan on the current view and return its result; nothing is stored."""
        return plan(Draft(self.view, self.options.limits, origin.right))

    def adopt(
        self,
        origin: Origin,
        changes: list[Change],
        records: dict[str, Record],
        outdated: tuple[Change, ...] = (),
    ) -> None:
        """Apply a hand edit to journal and view; the caller holds `lock`.

        `outdated` is what its file has of entries that keep our version.

        Raises:
            OSError: the journal does not accept it; additions and changes are visible anyway, and
                no write is possible until the journal accepts writes again.
        """
        sequence = self.view.sequence + 1
        builder = ViewBuilder(self.view)
        for change in changes:
            if isinstance(change, Put):
                one = records[change.id]
                builder.put(Record(one.header, one.line, sequence, change.version))
        without_removals = builder.view(sequence - 1)
        for change in changes:
            if isinstance(change, Remove):
                builder.remove(change.id)
        change_set = msgspec.structs.replace(_change_set(origin, tuple(changes)), outdated=outdated)
        record = JournalRecord(sequence, Operation.ADOPT, change_set)
        try:
            self._append(encode_record(record))
        except OSError:
            # Removals wait: without a journal record the last version would never be archived.
            self.view = without_removals
            raise
        self._publish(builder.view(sequence), [record])

    def replay(self, records: list[JournalRecord], after: int) -> dict[str, bytes | None]:
        """Apply journal records at start; return how hand edits among them changed the base."""
        builder = ViewBuilder(self.view)
        moved: dict[str, bytes | None] = {}
        sequence = max(self.view.sequence, after)
        for record in records:
            sequence = max(sequence, record.sequence)
            if record.sequence <= after:
                continue
            for change in record.change_set.changes:
                line = apply(builder, change, _order(builder, record, change))
                self.pending[change.id] = None
                if record.operation is Operation.ADOPT:
                    moved[change.id] = line
            for change in record.change_set.outdated:
                self.pending[change.id] = None
                moved[change.id] = change.line if isinstance(change, Put) else None
        self.view = builder.view(sequence)
        self.uncut = list(records)
        self._note_pending()
        return moved

    def snapshot(self) -> Snapshot:
        """Return the input of a fold and clear the pending entries."""
        with self.lock:
            taken = Snapshot(self.view, self.pending, list(self.uncut), self._journal.size)
            self.pending = {}
            self.pending_since = None
            return taken

    def give_back(self, snapshot: Snapshot) -> None:
        """Make the entries of a snapshot pending again after its fold failed."""
        with self.lock:
            self.pending = {**snapshot.pending, **self.pending}
            self._note_pending()

    def cut(self, snapshot: Snapshot) -> None:
        """Drop the journal records that the fold wrote into the file.

        Raises:
            OSError: they are still there.
        """
        with self.lock:
            if self._journal.is_broken:
                self._journal.repair()
            self._journal.cut(snapshot.journal_bytes)
            del self.uncut[: len(snapshot.records)]
            self._note_pending()

    def set_pending(self, pending: dict[str, None]) -> None:
        """Set which entries differ from the file; the caller holds `lock`."""
        self.pending = pending
        self._note_pending()

    def freeze(self, reason: QmsError | None) -> None:
        """Refuse every write with `reason`; None allows writes again."""
        if not self._is_closed:
            self._frozen = reason

    def refuse(self, error: OSError) -> None:
        """Turn read-only because of a disk error."""
        if self._refusal is None:
            log.error("store read-only", extra={"project": self.view.project, "reason": str(error)})
        self._tried_at = time.monotonic()
        self._refusal = StorageFullError(
            f"store {self.view.project} takes no writes now: {_reason(error)};"
            " reading goes on, and writing resumes by itself once the disk allows it",
            project=self.view.project,
            reason=_reason(error),
        )

    def recover(self) -> bool:
        """Try to leave read-only mode; True when writes are possible."""
        if self._refusal is None:
            return True
        with self.lock:
            try:
                if self._journal.is_broken:
                    self._journal.repair()
                self._disk.write_new(self._probe, [bytes(_PROBE_BYTES)])
                self._disk.remove(self._probe)
            except OSError as error:
                self.refuse(error)
                return False
            self._refusal = None
        log.info("store writable again", extra={"project": self.view.project})
        return True

    def close(self) -> None:
        """Refuse all further writes and close the journal."""
        with self.lock:
            self.freeze(UnavailableError(f"store {self.view.project} is closed"))
            self._is_closed = True
            self._journal.close()

    def _write_group(self, group: list[Ticket]) -> None:
        with self.lock:
            if self.refusal is not None and not self._try_now():
                for ticket in group:
                    ticket.error = self._refused()
                return
            view, written = self._plan_group(group)
            if not written:
                return
            try:
                self._append(b"".join(map(encode_record, written)))
            except OSError:
                for ticket in group:
                    ticket.error = ticket.error or self._refused()
                return
            metrics.JOURNAL_GROUP.observe(len(written))
            self.last_write_utc = written[-1].change_set.at_utc
            self._publish(view, written)

    def _plan_group(self, group: list[Ticket]) -> tuple[StoreView, list[JournalRecord]]:
        view = self.view
        written: list[JournalRecord] = []
        for ticket in group:
            draft = Draft(view, self.options.limits, ticket.origin.right)
            try:
                ticket.result = ticket.plan(draft)
            except BaseException as error:  # noqa: BLE001 - handed to the caller who waits for it
                ticket.error = error
                continue
            if draft.changes:
                view = draft.finish()
                ticket.sequence = view.sequence
                change_set = _change_set(ticket.origin, tuple(draft.changes))
                written.append(JournalRecord(view.sequence, Operation.COMMIT, change_set))
        return view, written

    def _append(self, frames: bytes) -> None:
        began = time.monotonic()
        try:
            if self._journal.is_broken:
                self._journal.repair()
            self._journal.append(frames)
        except OSError as error:
            self.refuse(error)
            raise
        metrics.JOURNAL_SECONDS.observe(time.monotonic() - began)
        metrics.JOURNAL_BYTES.inc(len(frames))

    def _publish(self, view: StoreView, written: list[JournalRecord]) -> None:
        for record in written:
            for change in record.change_set.changes:
                self.pending[change.id] = None
        self.uncut.extend(written)
        self._note_pending()
        self.view = view
        for record in written:
            for listener in self._listeners:
                self._guard(listener, record.sequence, record.change_set)

    def _guard(self, told: Callable[..., None], *given: object) -> None:
        # The change is durable and visible: a failing listener must not fail the write.
        try:
            told(*given)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # a panic of a native library is no Exception
            log.exception("listener failed", extra={"project": self.view.project})
            self.deaf = type(error).__name__

    def _refused(self) -> QmsError:
        """Return a new copy of the refusal: each caller's traceback is stored in its own."""
        refusal = self.refusal
        assert refusal is not None
        return type(refusal)(refusal.message, **refusal.details)

    def _try_now(self) -> bool:
        if self._frozen is not None or time.monotonic() - self._tried_at < self.options.retry_s:
            return False
        return self.recover()

    def _note_pending(self) -> None:
        if not self.pending and not self.uncut:
            self.pending_since = None
        elif self.pending_since is None:
            self.pending_since = time.monotonic()


def apply(builder: ViewBuilder, change: Change, sequence: int) -> bytes | None:
    """Apply one journaled change; return the entry's line afterwards, or None."""
    match change:
        case Put(entry=raw, version=version):
            record = Record.from_line(bytes(raw), sequence, version)
            builder.put(record)
            return record.line
        case Remove(id=entry_id):
            builder.remove(entry_id)
            return None


def _order(builder: ViewBuilder, record: JournalRecord, change: Change) -> int:
    """Return the order of an entry after a journaled change: a touch does not make it newer."""
    before = builder.records.get(change.id)
    is_touched = record.change_set.command == TOUCH and before is not None
    return before.order if before is not None and is_touched else record.sequence


def _change_set(origin: Origin, changes: tuple[Change, ...]) -> ChangeSet:
    return ChangeSet(
        changes=changes,
        command=origin.command,
        user=origin.user,
        at_utc=origin.at_utc,
        agent_id=origin.agent_id,
        key_id=origin.key_id,
    )


def _reason(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno else str(error)
