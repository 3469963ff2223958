"""What a store knows of `entries.jsonl`: the files around it and the image last seen."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from qms.codec.hand_lines import LineReader
from qms.files.append_log import AppendLog
from qms.files.base import BaseFiles, BaseMeta
from qms.files.change_log import ChangeLog
from qms.files.entries import EntriesFile, Replaced
from qms.files.journal import JournalRecord
from qms.files.peers import Peers
from qms.files.proposals import PROPOSALS_FILE, Proposals
from qms.fsio.disk import Disk, FileIdentity
from qms.store.image import Image
from qms.store.suspects import Suspects
from qms.store.writer import Writer


class Held(msgspec.Struct, frozen=True):
    """A file that lost so much at once that a person has to say whether it was meant."""

    reason: str
    identity: FileIdentity | None


class Unsettled(msgspec.Struct, frozen=True):
    """A file that lacks entries, and when it was first seen like this."""

    identity: FileIdentity | None
    since: float


class Previous(msgspec.Struct):
    """A file that a fold replaced, as last seen, and since when nobody wrote into it."""

    file: Replaced
    image: Image
    since: float
    is_written: bool = False
    missing: set[str] = set()
    """Entries that a late write lacks so far: taken out, or still on their way into it."""


class CutOff(msgspec.Struct):
    """A fold that announced its file and has not made it the base."""

    meta: BaseMeta
    image: Image
    is_in_place: bool | None
    """Whether its file came into place; None when that is not known."""


class FoldedWrites(msgspec.Struct, frozen=True):
    """The lines that one fold brought into the file, by id; None is a removal."""

    at: float
    lines: dict[str, bytes | None]


class FileSide:
    """The state that folds and reloads share.

    Whoever works on the file holds `lock`; inside it the writer's lock may be taken, never the
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
        self.archive = AppendLog(disk, folder / "archive.jsonl")
        self.conflicts = AppendLog(disk, own / "conflicts.jsonl")
        self.changes = ChangeLog(disk, own / "changes.jsonl")
        self.peers = Peers(disk, own / "sync")
        self.proposals = Proposals(disk, own / PROPOSALS_FILE)
        self.image = Image()
        self.moved: dict[str, bytes | None] = {}
        """How replayed hand edits moved the base, by id; None is a removal."""
        self.cut_off: CutOff | None = None
        """The fold that is under way, or was when something failed."""
        self.held: Held | None = None
        self.unsettled: Unsettled | None = None
        """The file that a look left alone, since it may be half written."""
        self.newer: list[str] = []
        """Entries of a schema version that this server does not know."""
        self.suspects: Suspects = {}
        """Lines taken from the file since the start that seem to hold a secret."""
        self.failure: str | None = None
        """Why the last fold or reload did not come to pass."""
        self.needs_base = False
        self.is_read_anew = False
        self.before_cut: Callable[[list[JournalRecord]], None] = _ignore
        self.last_fold_utc: datetime | None = None
        self.fold_took_s = 0.0
        self.fold_not_before = 0.0
        self.previous: list[Previous] = []
        """The files before the last folds, while an editor may still write into them."""
        self.recent: list[FoldedWrites] = []
        """What the last folds wrote: a person who saves may have opened the file before them."""

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
        """Return the entries that replayed hand edits gave a line."""
        return {entry_id for entry_id, line in self.moved.items() if line is not None}

    def reader(self, identity: FileIdentity | None) -> LineReader:
        """Return what reads this store's lines; the file's time stands in for missing ones."""
        instant = datetime.fromtimestamp(identity.mtime_ns / 1e9, UTC) if identity else self.clock()
        return LineReader(project=self.project, limits=self.writer.options.limits, instant=instant)


def _ignore(_records: list[JournalRecord]) -> None:
    """Do nothing: nobody asked to see records before they are cut."""
