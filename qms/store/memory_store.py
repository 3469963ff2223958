"""The open store of one project: the interface to its entries, journal and `entries.jsonl`."""

import logging
import time
from collections.abc import Callable, Set
from datetime import datetime
from pathlib import Path
from typing import Any, Self, TypeVar

from qms.config.root import OWN_FOLDER
from qms.disk.damage import Damage, find_set_aside
from qms.disk.disk import Disk
from qms.memory.access import HAND_EDIT_USER, SystemRight
from qms.memory.changes import HAND_EDIT, ChangeSet, Remove
from qms.memory.entry import split_id
from qms.memory.errors import ConflictError, StorageFullError
from qms.memory.hand_lines import bare, is_utf16
from qms.memory.limits import Limits
from qms.memory.validation import long_texts
from qms.store.archive import Archive
from qms.store.conflicts import dismiss
from qms.store.draft import Draft
from qms.store.erase import Eraser
from qms.store.file_image import LineProblem
from qms.store.file_state import StoreFiles
from qms.store.fold import fold, fold_due_in
from qms.store.journal import Journal
from qms.store.late_writes import take_late_writes
from qms.store.line_repair import LineRepair
from qms.store.load import load
from qms.store.options import (
    FoldOutcome,
    Origin,
    Problem,
    ReloadReport,
    StoreOptions,
    StoreStatus,
    Verification,
)
from qms.store.pending_uses import Touches
from qms.store.reload import look, read_file, reload
from qms.store.secret_lines import suspect_problems, suspects_in
from qms.store.snapshot import Snapshots
from qms.store.superseded import Supersession
from qms.store.usage import Usage
from qms.store.view import Record, StoreView
from qms.store.writer import Listener, Settler, Writer
from qms.telemetry import metrics

log = logging.getLogger(__name__)

T = TypeVar("T")
BeforeCut = Callable[[list[tuple[int, ChangeSet]]], None]

_Targets = list[tuple[str, str]]

_LOST = (
    "lacks {:,} bytes that were written: bring the file back from a copy or a backup, or remove"
    " .qms/archive.json to accept the loss"
)

_IGNORED = b"# the server's own: rebuilt, or not for git\n.qms/\nindexes/\n*.tmp\n"


class MemoryStore:
    """An open store; `view` is the current state for readers."""

    def __init__(self, files: StoreFiles, notes: list[str], usage: Usage) -> None:
        self._files = files
        self._writer = files.writer
        self._notes = notes
        self._damage: list[Damage] = []
        self.project = files.project
        self.archive = Archive(files)
        self.snapshots = Snapshots(files)
        self.eraser = Eraser(files)
        self.line_repair = LineRepair(files)
        self.usage = usage
        self.touches = Touches(usage)
        self.features = files.features
        self._seen_texts: tuple[int, Limits, list[Problem]] | None = None
        self._supersession = Supersession(lambda: self.view)
        self.subscribe(self._supersession.follow)
        self._lost_documents: list[str] = []
        self.subscribe(self._note_lost_documents)
        for sequence, change_set in self.uncut():
            self._note_lost_documents(sequence, change_set)
        self._archive_lost_parts()

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
    ) -> Self:
        """Load a store: all acknowledged writes, and hand edits since.

        Raises:
            OSError: the folder or the file cannot be read.
        """
        own = folder / OWN_FOLDER
        _make_folders(disk, folder, own)
        journal = Journal(disk, own / "journal.wal", leading=(folder.parent, folder))
        writer = Writer(project, journal, disk=disk, folder=own, options=options)
        files = StoreFiles(writer, disk=disk, folder=folder, backup_root=backup_root, clock=clock)
        return cls(
            files,
            load(files, journal),
            Usage(disk, own / "usage.json"),
        )

    @property
    def view(self) -> StoreView:
        """Return the current view."""
        return self._writer.view

    @property
    def limits(self) -> Limits:
        """Return the limits of entries."""
        return self._writer.options.limits

    @property
    def is_read_anew(self) -> bool:
        """Say whether the file was loaded without a base: earlier sequences do not describe it."""
        return self._files.is_read_anew

    def in_file_order(self, view: StoreView) -> list[Record]:
        """Return the entries of a view in file order; those not in the file yet come last."""
        ids = dict.fromkeys(one for one in list(self._files.image.ids) if one is not None)
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
        """Return the ids of superseded entries, which lists leave out by default."""
        return self._supersession.retired(now)

    def commit(self, origin: Origin, plan: Callable[[Draft], T]) -> T:
        """Run a plan in the writer and return its result once it is durable and visible.

        Raises:
            StorageFullError: the disk does not accept writes now.
            UnavailableError: the store has a newer schema version, or is closed.
        """
        return self._writer.commit(origin, plan)

    def attempt(self, origin: Origin, plan: Callable[[Draft], T]) -> T:
        """Run a plan on the current view and return its result; nothing is stored."""
        return self._writer.attempt(origin, plan)

    def prepare(self) -> None:
        """Build now what the first write would have to wait for."""
        self.view.titles.prepare()

    def subscribe(self, listener: Listener) -> None:
        """Call `listener` with sequence and change set once a commit is visible."""
        self._writer.subscribe(listener)

    def before_answer(self, settle: Settler) -> None:
        """Call `settle` with the sequence of a commit, in its thread, before `commit` returns."""
        self._writer.before_answer(settle)

    def before_cut(self, hook: BeforeCut) -> None:
        """Call `hook` with the journal records before they are cut; OSError postpones the cut."""
        self._files.before_cut = lambda records: hook(
            [(record.sequence, record.change_set) for record in records]
        )

    def uncut(self) -> list[tuple[int, ChangeSet]]:
        """Return the records in the journal."""
        with self._writer.lock:
            return [(record.sequence, record.change_set) for record in self._writer.uncut]

    @property
    def pending_journal(self) -> int:
        """Return how many records of the journal are not in the file yet."""
        return len(self._writer.uncut)

    def fold(self) -> FoldOutcome:
        """Write every change so far into `entries.jsonl`."""
        began = time.monotonic()
        outcome = fold(self._files)
        if outcome is not FoldOutcome.NOTHING:
            metrics.FOLD_SECONDS.labels(outcome).observe(time.monotonic() - began)
        return outcome

    def fold_due_in(self, now: float) -> float | None:
        """Return the seconds until a fold is due, or None when there is nothing to fold."""
        return fold_due_in(self._files, now)

    def look(self) -> ReloadReport:
        """Apply hand edits of `entries.jsonl`, unless it may be half written."""
        report = look(self._files)
        self._archive_lost_parts()
        return report

    def reload(self) -> ReloadReport:
        """Apply `entries.jsonl` as it is now; the caller knows that it is complete."""
        report = reload(self._files)
        self._archive_lost_parts()
        return report

    def accept_held(self) -> ReloadReport:
        """Apply a held file as it is, deletions included.

        Raises:
            ConflictError: nothing is held, or the file cannot be read as text.
        """
        self._check_held()
        state = self._files.entries.read()
        if state is not None and state.data is not None and is_utf16(state.data):
            raise ConflictError("entries.jsonl is in UTF-16: save it as UTF-8, or reject it")
        report = reload(self._files, take_deletions=True)
        self._archive_lost_parts()
        return report

    def _note_lost_documents(self, _sequence: int, change_set: ChangeSet) -> None:
        """Remember the documents whose lines a person removed."""
        if change_set.command == HAND_EDIT:
            gone = (one.id for one in change_set.changes if isinstance(one, Remove))
            self._lost_documents += (one for one in gone if one in self.view.incoming)

    def _archive_lost_parts(self) -> None:
        """Archive the chunks of documents whose lines a person removed."""
        lost, self._lost_documents = self._lost_documents, []
        if not any(self.view.parts_of(one) for one in lost) or self.is_read_only:
            return
        origin = Origin(
            command=HAND_EDIT,
            user=HAND_EDIT_USER,
            at_utc=self._files.clock(),
            right=SystemRight.HAND_EDIT,
        )

        def plan(draft: Draft) -> None:
            for one in lost:
                for part in draft.parts_of(one) if draft.get(one) is None else ():
                    draft.remove(part.header.id)

        self.commit(origin, plan)

    def reject_held(self) -> ReloadReport:
        """Keep the entries that a held file lost, and apply only additions and changes.

        Raises:
            ConflictError: nothing is held.
        """
        self._check_held()
        return reload(self._files, take_deletions=False)

    @property
    def is_read_only(self) -> bool:
        """Say whether writes are refused now."""
        return self._writer.refusal is not None

    def recover(self) -> bool:
        """Try to leave read-only mode; True when writes are possible."""
        return self._writer.recover()

    def status(self) -> StoreStatus:
        """Return the status of the store."""
        refusal, view = self._writer.refusal, self.view
        return StoreStatus(
            name=self.project,
            entries=len(view),
            bytes=view.total_bytes,
            loaded=True,
            problems=len(self.problems()),
            conflicts=self._files.conflicts.count(),
            held=self._files.held is not None,
            read_only=refusal is not None,
            read_only_reason=refusal.message if refusal else None,
            pending_journal=self.pending_journal,
            sequence=view.sequence,
            last_write_utc=self._writer.last_write_utc,
            last_fold_utc=self._files.last_fold_utc,
        )

    def problems(self) -> list[Problem]:
        """Return everything that an operator should look at."""
        files, refusal = self._files, self._writer.refusal
        found = [_line_problem(self.project, one) for one in files.image.problems]
        if files.held is not None:
            found.append(self._problem("held", files.held.reason, "entries.jsonl"))
        if refusal is not None:
            code = "newerSchema" if self._writer.is_frozen else "readOnly"
            found.append(self._problem(code, refusal.message))
        if files.older_save is not None:
            found.append(self._problem("olderBuffer", files.older_save, "entries.jsonl"))
        if files.failure is not None:
            found.append(self._problem("fileFailure", files.failure, "entries.jsonl"))
        folder = files.entries.path.parent
        for file, reason in files.disk.unfit_below(folder).items():
            found.append(self._problem("unfitFile", reason, file))
        if self._writer.deaf is not None:
            reason = f"a listener failed after a commit ({self._writer.deaf}): see the log"
            found.append(self._problem("listenerFailed", reason))
        for note in self._notes:
            code, _, reason = note.partition(": ")
            found.append(self._problem(code, reason))
        found += map(self._damaged, self._damage)
        return [*found, *suspect_problems(files.secret_lines, self.view), *self._long_texts()]

    def _long_texts(self) -> list[Problem]:
        """Return the entries with a text above the request limit; most lines are shorter."""
        view, limits = self.view, self.limits
        if self._seen_texts is None or self._seen_texts[:2] != (view.sequence, limits):
            long = [one for one in view.records.values() if len(one.line) > limits.text_bytes]
            found = [
                self._problem("longText", f"{one.header.id}: {told}", "entries.jsonl")
                for one in long
                for told in long_texts(one.document(), limits)
            ]
            self._seen_texts = (view.sequence, limits, found)
        return self._seen_texts[2]

    def check_files(self) -> None:
        """Check the server's own files for unreadable lines and report them in `problems`."""
        files = self._files
        found = find_set_aside([files.own_folder, *files.features.folders()])
        with files.lock:
            for check in files.line_checks:
                try:
                    found += check.run()
                except OSError as error:
                    found.append(Damage(check.name, f"cannot be read: {error.strerror or error}"))
            if lost := files.archive.lost_bytes():
                found.append(Damage("archive.jsonl", _LOST.format(lost)))
        self._report_new(found)
        self._damage = found

    def _report_new(self, found: list[Damage]) -> None:
        for one in found:
            if one not in self._damage:
                fields = {"project": self.project, "file": one.file, "line": one.line}
                log.warning("file damaged", extra={**fields, "reason": one.reason})

    def line(self, number: int) -> bytes | None:
        """Return a line of the file as it was last read; lines count from 1."""
        raws = self._files.image.raws
        return bare(raws[number - 1]) if 0 < number <= len(raws) else None

    def conflicts(self) -> list[dict[str, Any]]:
        """Return the versions that lost against a hand edit, oldest first."""
        return self._files.conflicts.read()

    def dismiss_conflicts(self, ids: Set[str] | None, origin: Origin) -> int:
        """Move the conflict copies of these entries, or all, to the archive; return how many.

        Raises:
            StorageFullError: the disk does not accept it now; the copies are unchanged.
        """
        try:
            return dismiss(self._files, ids, origin)
        except OSError as error:
            raise StorageFullError(
                f"the conflict copies of {self.project} cannot be moved now:"
                f" {error.strerror or error}; try again later",
                project=self.project,
            ) from error

    def verify(self) -> Verification:
        """Read the file again; find bad lines, relations without a target and likely secrets."""
        files = self._files
        for check in files.line_checks:
            check.forget()
        self.check_files()
        with files.lock:
            state = files.entries.read()
            found = [] if state is None else read_file(files, state).image.problems
        problems = [_line_problem(self.project, one) for one in found]
        problems += map(self._damaged, self._damage)
        if not files.base.is_whole():
            problems.append(self._problem("damagedFile", "does not match base.json", "base.jsonl"))
        view = self.view
        lost, archived = self._dangling(view)
        problems += [
            self._problem("danglingRelation", f"{one} is gone; {why}") for one, why in lost
        ]
        problems += suspect_problems(suspects_in(view.records.values()), view)
        problems += self._long_texts()
        notes = [
            self._problem("archivedRelation", f"{one} is in the archive; {why}")
            for one, why in archived
        ]
        return Verification(problems=problems, notes=notes)

    def close(self) -> None:
        """Apply the last hand edits, fold, and close."""
        self._take_last_late_writes()
        if self._writer.pending_since is not None or self._files.needs_base:
            self.reload()
            if self.fold() is FoldOutcome.FILE_CHANGED:
                self.reload()
                self.fold()
        self.usage.save(self.view.records)
        self._writer.close()

    def abandon(self) -> None:
        """Close the journal and leave the files as they are: the next start reads them."""
        self._writer.close()

    def _take_last_late_writes(self) -> None:
        with self._files.lock:
            try:
                take_late_writes(self._files, is_last=True)
            except OSError as error:
                log.warning(
                    "late write lost", extra={"project": self.project, "reason": str(error)}
                )

    def _dangling(self, view: StoreView) -> tuple[_Targets, _Targets]:
        """Return the relation targets that exist nowhere, and those in the archive."""
        gone = [
            (target, f"it is named by {', '.join(sorted(sources))}")
            for target, sources in sorted(view.incoming.items())
            if split_id(target)[0] == self.project and target not in view.records
        ]
        known = {one.entry["id"] for one in self.archive.entries()} if gone else set()
        return [one for one in gone if one[0] not in known], [
            one for one in gone if one[0] in known
        ]

    def _check_held(self) -> None:
        if self._files.held is None:
            raise ConflictError(f"no edit of {self.project} is held: there is nothing to decide")

    def _damaged(self, one: Damage) -> Problem:
        return Problem(
            code="damagedFile",
            project=self.project,
            file=one.file,
            line=one.line,
            reason=one.reason,
        )

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
    """Make the store's folders; on a read-only disk the store is still readable."""
    try:
        disk.make_folder(own)
        ignore = folder / ".gitignore"
        if not ignore.exists():
            disk.put(ignore, _IGNORED)
    except OSError:
        if disk.takes_writes and not folder.exists():
            raise
