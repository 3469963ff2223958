"""The state of a store's files: the image of `entries.jsonl`, its base, logs, holds and locks."""

import threading
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from qms.disk.append_log import AppendLog, NotedLog
from qms.disk.damage import LineCheck
from qms.disk.disk import Disk, FileIdentity
from qms.memory.hand_lines import LineReader
from qms.store.archive_lines import archive_fault
from qms.store.base import BaseFiles, BaseMeta
from qms.store.change_log import ChangeLog
from qms.store.entries_file import EntriesFile, Replaced
from qms.store.feature_files import FeatureFiles
from qms.store.file_image import Image
from qms.store.fold_log import FoldLog, Step, step_of
from qms.store.journal import JournalRecord
from qms.store.secret_lines import SecretLines
from qms.store.writer import Writer

ARCHIVE_NOTE = "archive.json"
"""The file that notes the size of the archive."""

_MAX_EDITS = 100
"""How many hand edits between two folds are kept as separate steps."""


class Held(msgspec.Struct, frozen=True):
    """A file that lost too many entries at once: a person has to accept or reject it."""

    reason: str
    identity: FileIdentity | None


class Unsettled(msgspec.Struct, frozen=True):
    """A file that lacks entries, and when it was first read in this state."""

    identity: FileIdentity | None
    since: float


class Previous(msgspec.Struct):
    """A file that a fold replaced, as last read, and since when it has not changed."""

    file: Replaced
    image: Image
    since: float
    is_written: bool = False
    missing: set[str] = set()
    """Entries that a late write lacks: removed, or not written yet."""


class InterruptedFold(msgspec.Struct):
    """A fold that announced its file and did not make it the base."""

    meta: BaseMeta
    image: Image
    is_in_place: bool | None
    """Whether its file replaced `entries.jsonl`; None when that is not known."""


class StoreFiles:
    """The state that folds and reloads share.

    Code that works on the file holds `lock`. Inside it the writer's lock may be taken, never the
    other way round.
    """

    def __init__(
        self,
        writer: Writer,
        *,
        disk: Disk,
        folder: Path,
        backup_root: Path,
        clock: Callable[[], datetime],
    ) -> None:
        own = folder / ".qms"
        self.lock = threading.RLock()
        self.writer = writer
        self.own_folder = own
        self.disk = disk
        self.backup_root = backup_root
        self.clock = clock
        self.entries = EntriesFile(disk, folder, own)
        self.base = BaseFiles(disk, own)
        self.archive = NotedLog(disk, folder / "archive.jsonl", own / ARCHIVE_NOTE)
        self.conflicts = AppendLog(disk, own / "conflicts.jsonl")
        self.changes = ChangeLog(disk, own / "changes.jsonl")
        self.folds = FoldLog(disk, own / "folds.jsonl")
        self.line_checks = [
            LineCheck(disk, folder / "archive.jsonl", archive_fault),
            LineCheck(disk, own / "conflicts.jsonl"),
            LineCheck(disk, own / "changes.jsonl"),
            LineCheck(disk, own / "kept-lines.jsonl"),
        ]
        self.features = FeatureFiles(disk, own, writer.options.feature_files)
        self.image = Image()
        self.moved: dict[str, bytes | None] = {}
        """How replayed hand edits changed the base, by id; None is a removal."""
        self.interrupted: InterruptedFold | None = None
        """The fold that is running or was interrupted."""
        self.held: Held | None = None
        self.unsettled: Unsettled | None = None
        """The file that `look` did not read in yet, since it may be half written."""
        self.newer: list[str] = []
        """Entries of a schema version that this server does not know."""
        self.secret_lines: SecretLines = {}
        """Lines read from the file since the start that seem to hold a secret."""
        self.failure: str | None = None
        """Why the last fold or reload failed."""
        self.needs_base = False
        self.is_read_anew = False
        self.before_cut: Callable[[list[JournalRecord]], None] = _ignore
        self.last_fold_utc: datetime | None = None
        self.fold_took_s = 0.0
        self.fold_not_before = 0.0
        self.previous: list[Previous] = []
        """The files before the last folds, while an editor may still write into them."""
        self.state = ""
        """The digest of the file last read; empty before the first fold of a new store."""
        self.edits: list[Step] = []
        """The hand edits since the last fold; the next fold writes them to the log of folds."""
        self.older_save: str | None = None
        """The notice about the last save, if it came from an older buffer."""

    @property
    def project(self) -> str:
        """Return the project whose store this is."""
        return self.writer.view.project

    def base_lines(self) -> dict[str, bytes]:
        """Return the base of the three-way merge: a line for each id."""
        lines = self.image.lines_by_id()
        for entry_id, line in self.moved.items():
            if line is None:
                lines.pop(entry_id, None)
            else:
                lines[entry_id] = line
        return lines

    def added_later(self) -> set[str]:
        """Return the entries that replayed hand edits added or changed."""
        return {entry_id for entry_id, line in self.moved.items() if line is not None}

    def steps(self) -> list[Step]:
        """Return the known steps that led to the present file, oldest first."""
        known = self.folds.steps_to(self.edits[0].source if self.edits else self.state)
        steps = known + self.edits
        if self.moved:
            steps.append(self._edit(self.moved, self.state))
        return steps

    def note_edit(self, changed: Iterable[str], digest: str) -> None:
        """Record a hand edit that is about to be applied."""
        self.edits.append(self._edit([*changed, *self.moved], digest))
        del self.edits[:-_MAX_EDITS]

    def _edit(self, changed: Iterable[str], digest: str) -> Step:
        before = self.image.lines_by_id()
        return step_of(
            {entry_id: before.get(entry_id) for entry_id in changed},
            source=self.state,
            target=digest,
            at_utc=self.clock(),
            by_hand=True,
        )

    def reader(self, identity: FileIdentity | None) -> LineReader:
        """Return the reader of this store's lines; the file's time replaces missing timestamps."""
        instant = datetime.fromtimestamp(identity.mtime_ns / 1e9, UTC) if identity else self.clock()
        return LineReader(project=self.project, limits=self.writer.options.limits, instant=instant)


def _ignore(_records: list[JournalRecord]) -> None:
    """Do nothing: the default for `before_cut`."""
