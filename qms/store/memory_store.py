"""One project's memory: the door to its entries in RAM, its journal and `entries.jsonl`."""

import logging
import time
from collections.abc import Callable, Set
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from qms.codec.hand_lines import bare, is_utf16
from qms.domain.changes import ChangeSet
from qms.domain.entry import split_id
from qms.domain.errors import ConflictError, StorageFullError
from qms.domain.limits import Limits
from qms.files.journal import Journal
from qms.files.moves import MOVES_FILE, Moves
from qms.files.usage import Usage
from qms.fsio.disk import Disk
from qms.store.archive import Archive
from qms.store.conflicts import dismiss
from qms.store.draft import Draft
from qms.store.erase import Eraser
from qms.store.file_side import FileSide
from qms.store.fold import fold, fold_due_in
from qms.store.image import LineProblem
from qms.store.late_writes import take_late_writes
from qms.store.loading import load
from qms.store.mend import Mender
from qms.store.moment import Keepsake
from qms.store.options import (
    FoldOutcome,
    Origin,
    Problem,
    ReloadReport,
    StoreOptions,
    StoreStatus,
)
from qms.store.reload import look, read_file, reload
from qms.store.superseded import Supersession
from qms.store.suspects import suspect_problems, suspects_in
from qms.store.touches import Touches
from qms.store.view import Record, StoreView
from qms.store.writer import Listener, Writer
from qms.telemetry import metrics

log = logging.getLogger(__name__)

T = TypeVar("T")
BeforeCut = Callable[[list[tuple[int, ChangeSet]]], None]

OWN_FOLDER = ".qms"
"""What is the server's own in the folder of a store."""

_IGNORED = b"# the server's own: rebuilt, or not for git\n.qms/\nindexes/\n*.tmp\n"


class MemoryStore:
    """A store that is open; `view` is the moment that readers see."""

    def __init__(self, side: FileSide, notes: list[str], usage: Usage, moves: Moves) -> None:
        self._side = side
        self._writer = side.writer
        self._notes = notes
        self.project = side.project
        self.archive = Archive(side)
        self.keepsake = Keepsake(side)
        self.eraser = Eraser(side)
        self.mender = Mender(side)
        self.usage = usage
        self.touches = Touches(usage)
        self.moves = moves
        self.peers = side.peers
        self.proposals = side.proposals
        self._supersession = Supersession(lambda: self.view)
        self.subscribe(self._supersession.follow)

    @classmethod
    def open(
        cls,
        folder: Path,
        project: str,
        *,
        disk: Disk,
        options: StoreOptions,
        backup_root: Path,
        clock: Callable[[], datetime],
    ) -> "MemoryStore":
        """Load a store: what was acknowledged, and what a person changed since.

        Raises:
            OSError: the folder or the file cannot be read.
        """
        own = folder / OWN_FOLDER
        _make_folders(disk, folder, own)
        journal = Journal(disk, own / "journal.wal", leading=(folder.parent, folder))
        writer = Writer(project, journal, disk=disk, folder=own, options=options)
        side = FileSide(writer, disk=disk, folder=folder, backup_root=backup_root, clock=clock)
        return cls(
            side,
            load(side, journal),
            Usage(disk, own / "usage.json"),
            Moves(disk, own / MOVES_FILE),
        )

    @property
    def view(self) -> StoreView:
        """Return the present moment of the store."""
        return self._writer.view

    @property
    def limits(self) -> Limits:
        """Return what an entry may hold."""
        return self._writer.options.limits

    @property
    def is_read_anew(self) -> bool:
        """Say whether the file was loaded without a base: no earlier sequence tells its content."""
        return self._side.is_read_anew

    def in_file_order(self, view: StoreView) -> list[Record]:
        """Return the entries of a view as they stand in the file; those not in it yet come last."""
        ids = dict.fromkeys(one for one in list(self._side.image.ids) if one is not None)
        found = [record for one in ids if (record := view.get(one)) is not None]
        if len(found) == len(view):
            return found
        rest = [record for one, record in view.records.items() if one not in ids]
        written = (change.id for _, one in self.uncut() for change in one.changes)
        place = {one: number for number, one in enumerate(dict.fromkeys(written))}
        last = len(place)
        return found + sorted(
            rest, key=lambda one: (place.get(one.header.id, last), one.order, one.header.id)
        )

    def superseded(self, now: datetime) -> frozenset[str]:
        """Return the ids of entries that others have replaced: no list shows them unasked."""
        return self._supersession.retired(now)

    def commit(self, origin: Origin, plan: Callable[[Draft], T]) -> T:
        """Run a plan in the writer and return its result once it is durable and visible.

        Raises:
            StorageFullError: the disk does not take writes now.
            UnavailableError: the store is of a newer schema version, or closed.
        """
        return self._writer.commit(origin, plan)

    def prepare(self) -> None:
        """Make now what the first write would have to wait for."""
        self.view.titles.prepare()

    def subscribe(self, listener: Listener) -> None:
        """Have `listener` called with sequence and change set once a commit is visible."""
        self._writer.subscribe(listener)

    def before_cut(self, hook: BeforeCut) -> None:
        """Have `hook` see every journal record before it is cut; its OSError postpones the cut."""
        self._side.before_cut = lambda records: hook(
            [(record.sequence, record.change_set) for record in records]
        )

    def uncut(self) -> list[tuple[int, ChangeSet]]:
        """Return the records that stand in the journal."""
        with self._writer.lock:
            return [(record.sequence, record.change_set) for record in self._writer.uncut]

    @property
    def pending_journal(self) -> int:
        """Return how many records of the journal are not in the file yet."""
        return len(self._writer.uncut)

    def fold(self) -> FoldOutcome:
        """Bring everything written so far into `entries.jsonl`."""
        began = time.monotonic()
        outcome = fold(self._side)
        if outcome is not FoldOutcome.NOTHING:
            metrics.FOLD_SECONDS.labels(outcome).observe(time.monotonic() - began)
        return outcome

    def fold_due_in(self, now: float) -> float | None:
        """Return the seconds until a fold is due, or None when there is nothing to fold."""
        return fold_due_in(self._side, now)

    def look(self) -> ReloadReport:
        """Take what a person changed in `entries.jsonl`, unless it may be half written."""
        return look(self._side)

    def reload(self) -> ReloadReport:
        """Take `entries.jsonl` as it is now: whoever asks knows that it is whole."""
        return reload(self._side)

    def accept_held(self) -> ReloadReport:
        """Take a held file as it is, deletions included.

        Raises:
            ConflictError: nothing is held, or the file cannot be read as text.
        """
        self._check_held()
        state = self._side.entries.read()
        if state is not None and state.data is not None and is_utf16(state.data):
            raise ConflictError("entries.jsonl is in UTF-16: save it as UTF-8, or reject it")
        return reload(self._side, take_deletions=True)

    def reject_held(self) -> ReloadReport:
        """Keep what a held file lost, and take only what was added and changed in it.

        Raises:
            ConflictError: nothing is held.
        """
        self._check_held()
        return reload(self._side, take_deletions=False)

    @property
    def is_read_only(self) -> bool:
        """Say whether writes are refused now."""
        return self._writer.refusal is not None

    def recover(self) -> bool:
        """Try to leave read-only mode; True when writes are taken."""
        return self._writer.recover()

    def status(self) -> StoreStatus:
        """Return what the store reports of itself."""
        refusal, view = self._writer.refusal, self.view
        return StoreStatus(
            name=self.project,
            entries=len(view),
            bytes=view.total_bytes,
            loaded=True,
            problems=len(self.problems()),
            conflicts=self._side.conflicts.count(),
            held=self._side.held is not None,
            read_only=refusal is not None,
            read_only_reason=refusal.message if refusal else None,
            pending_journal=self.pending_journal,
            sequence=view.sequence,
            last_write_utc=self._writer.last_write_utc,
            last_fold_utc=self._side.last_fold_utc,
        )

    def problems(self) -> list[Problem]:
        """Return everything that a person should look at."""
        side, refusal = self._side, self._writer.refusal
        found = [_line_problem(self.project, one) for one in side.image.problems]
        if side.held is not None:
            found.append(self._problem("held", side.held.reason, "entries.jsonl"))
        if refusal is not None:
            code = "newerSchema" if self._writer.is_frozen else "readOnly"
            found.append(self._problem(code, refusal.message))
        if side.failure is not None:
            found.append(self._problem("fileFailure", side.failure, "entries.jsonl"))
        if self._writer.deaf is not None:
            reason = f"what follows a commit failed once ({self._writer.deaf}): see the log"
            found.append(self._problem("listenerFailed", reason))
        for note in self._notes:
            code, _, reason = note.partition(": ")
            found.append(self._problem(code, reason))
        return [*found, *suspect_problems(side.suspects, self.view)]

    def line(self, number: int) -> bytes | None:
        """Return a line of the file as it was last seen; lines count from 1."""
        raws = self._side.image.raws
        return bare(raws[number - 1]) if 0 < number <= len(raws) else None

    def conflicts(self) -> list[dict[str, Any]]:
        """Return the versions that gave way to a hand edit, oldest first."""
        return self._side.conflicts.read()

    def dismiss_conflicts(self, ids: Set[str] | None, origin: Origin) -> int:
        """Move the conflict copies of these entries, or all, to the archive; return how many.

        Raises:
            StorageFullError: the disk does not take it now; the copies are where they were.
        """
        try:
            return dismiss(self._side, ids, origin)
        except OSError as error:
            raise StorageFullError(
                f"the conflict copies of {self.project} cannot be moved now:"
                f" {error.strerror or error}; try again later",
                project=self.project,
            ) from error

    def verify(self) -> list[Problem]:
        """Read the file anew and return its bad lines, lost relations and likely secrets."""
        side = self._side
        with side.lock:
            state = side.entries.read()
            found = [] if state is None else read_file(side, state).image.problems
        problems = [_line_problem(self.project, one) for one in found]
        view = self.view
        for target, sources in sorted(view.incoming.items()):
            if split_id(target)[0] == self.project and target not in view.records:
                reason = f"{target} is gone; it is named by {', '.join(sorted(sources))}"
                problems.append(self._problem("danglingRelation", reason))
        return [*problems, *suspect_problems(suspects_in(view.records.values()), view)]

    def close(self) -> None:
        """Take a last look at the file, fold, and close."""
        self._take_last_late_writes()
        if self._writer.pending_since is not None or self._side.needs_base:
            self.reload()
            if self.fold() is FoldOutcome.FILE_CHANGED:
                self.reload()
                self.fold()
        self.usage.save(self.view.records)
        self._writer.close()

    def _take_last_late_writes(self) -> None:
        with self._side.lock:
            try:
                take_late_writes(self._side, is_last=True)
            except OSError as error:
                log.warning(
                    "late write lost", extra={"project": self.project, "reason": str(error)}
                )

    def _check_held(self) -> None:
        if self._side.held is None:
            raise ConflictError(f"no edit of {self.project} is held: there is nothing to decide")

    def _problem(self, code: str, reason: str, file: str | None = None) -> Problem:
        return Problem(code=code, project=self.project, reason=reason, file=file)


def _line_problem(project: str, one: LineProblem) -> Problem:
    return Problem(
        code=one.code,
        project=project,
        reason=one.reason,
        file="entries.jsonl",
        line=one.index + 1,
    )


def _make_folders(disk: Disk, folder: Path, own: Path) -> None:
    """Make the store's folders; a read-only disk is no reason not to read."""
    try:
        disk.make_folder(own)
        ignore = folder / ".gitignore"
        if not ignore.exists():
            disk.put(ignore, _IGNORED, mode=0o644)
    except OSError:
        if not folder.exists():
            raise
