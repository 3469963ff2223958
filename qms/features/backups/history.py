"""history: every version of an entry that the store, its archive and its backups hold."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated

import msgspec

from qms.commands.answers import Rendered
from qms.commands.call import Call, no_entry
from qms.commands.command import EXAMPLE_ID, command
from qms.commands.formats import TokenBudget, longest
from qms.commands.requests import Request, Response
from qms.commands.rows import ItemTable
from qms.features.backups.backup_manifest import BackupKind, BrokenBackupError, Manifest
from qms.features.backups.files import ENTRIES_NAME, KEPT_NAME, BackupFolder
from qms.features.backups.past import changes_of
from qms.features.backups.queue import BackupQueue
from qms.memory.access import AccessTier
from qms.memory.changes import Put
from qms.memory.deadline import NO_DEADLINE, Deadline
from qms.memory.entry import Document, split_id
from qms.memory.errors import NotFoundError, invalid
from qms.memory.filters import Format
from qms.memory.hand_lines import GoodLine, LineReader, bare
from qms.memory.limits import Limits
from qms.memory.lines import decode_line
from qms.memory.validation import instant_text, version_of
from qms.memory.visibility import Visibility
from qms.store.change_log import Logged
from qms.store.memory_store import MemoryStore

_EPOCH = datetime.fromtimestamp(0, UTC)

Most = Annotated[int, msgspec.Meta(ge=1, le=1000)]


class HistoryRequest(Request, frozen=True):
    """The entry; `full` includes the entry of every version, in JSON only."""

    id: str
    limit: Most = 50
    full: bool = False
    format: Format = Format.JSON
    max_tokens: TokenBudget | None = None


class VersionItem(Response, frozen=True):
    """One version: its time, its author and its end, as far as they are known."""

    version: str
    title: str
    is_present: bool
    written_utc: str | None
    by: str | None
    command: str | None
    ended_utc: str | None
    reason: str | None
    found_in: list[str]
    entry: Document | None


class HistoryAnswer(Response, frozen=True):
    """Versions, the newest first; `omitted` older ones are left out."""

    id: str
    items: list[VersionItem]
    omitted: int


class Trace(msgspec.Struct):
    """The known facts of one version."""

    line: bytes
    written_utc: datetime | None = None
    by: str | None = None
    command: str | None = None
    ended_utc: datetime | None = None
    reason: str | None = None
    found_in: dict[str, None] = msgspec.field(default_factory=dict)

    @property
    def age_key(self) -> datetime:
        """Return the time that orders versions: when written, else the entry's `updatedUtc`."""
        return self.written_utc or _updated_utc(self.line)


Traces = dict[str, Trace]
"""By version."""


@command(
    tier=AccessTier.CURATOR,
    toolset="lifecycle",
    help="List the versions of an entry that store, archive and backups hold",
    example={"id": EXAMPLE_ID},
    read_only=True,
    idempotent=True,
    care=True,
    after="listArchive",
)
def history(call: Call, request: HistoryRequest) -> HistoryAnswer | Rendered:
    """Return the known versions of an entry."""
    if request.full and request.format is not Format.JSON:
        raise invalid("full", "is possible with format json only: rows hold no entries")
    entry_id = call.own_id(request.id)
    items, omitted = told_versions(
        call, entry_id, limit=request.limit, full=request.full, deadline=call.deadline
    )
    table = ItemTable(request.format, call.project, VersionItem, name="versions", without=["entry"])

    def answer(count: int) -> HistoryAnswer | Rendered:
        shown, left = items[:count], omitted + len(items) - count
        if request.format is Format.JSON:
            return HistoryAnswer(id=entry_id, items=shown, omitted=left)
        return table.rendered(shown, id=entry_id, omitted=left)

    return longest(answer, len(items), request.max_tokens)


def told_versions(
    call: Call, entry_id: str, *, limit: int, full: bool, deadline: Deadline
) -> tuple[list[VersionItem], int]:
    """Return the newest versions of an entry, and the number of older ones left out.

    Raises:
        NotFoundError: there is no version of it.
    """
    traces = find_versions(
        call.store, call.context.part(BackupQueue).backup_folder, entry_id, deadline
    )
    if not traces:
        raise no_entry(entry_id)
    record = call.store.view.get(entry_id)
    present = record.version() if record else None
    ordered = sorted(
        traces.items(), key=lambda one: (one[0] == present, one[1].age_key), reverse=True
    )
    shows = call.visibility if full else None
    items = [_item(version, trace, present, shows) for version, trace in ordered[:limit]]
    return items, len(ordered) - len(items)


def find_line(
    store: MemoryStore, backup_folder: BackupFolder, entry_id: str, version: str
) -> bytes:
    """Return the line of one version of an entry.

    Raises:
        NotFoundError: neither the store, its archive nor a backup has it.
    """
    found = find_versions(store, backup_folder, entry_id).get(version)
    if found is None:
        raise NotFoundError(
            f"there is no version {version[:64]!r} of {entry_id}", id=entry_id, version=version
        )
    return found.line


def find_versions(
    store: MemoryStore, backup_folder: BackupFolder, entry_id: str, deadline: Deadline = NO_DEADLINE
) -> Traces:
    """Return every version of an entry that can be restored; broken backups are left out."""
    traces: Traces = {}
    reader = _VersionReader(entry_id, store.limits)
    made = [one for one in backup_folder.all(store.project) if isinstance(one, Manifest)]
    for manifest in made:
        deadline.check()
        try:
            _take_backup(traces, backup_folder, manifest, reader)
        except BrokenBackupError:
            continue
    deadline.check()
    _take_changes(traces, store.snapshots.logged(), entry_id, "changes")
    for line, ended_utc, reason in store.archive.lines_of(entry_id):
        version = reader.version_in(line)
        if version is not None:
            trace = _trace(traces, version, "archive")
            trace.ended_utc, trace.reason = ended_utc, reason
    record = store.view.get(entry_id)
    if record is not None:
        trace = _trace(traces, record.line, "store")
        trace.ended_utc = trace.reason = None
    return traces


class _VersionReader(msgspec.Struct, frozen=True):
    """Finds the versions of an entry in files that a person may have edited."""

    entry_id: str
    limits: Limits

    def versions_in(self, data: bytes) -> Iterator[bytes]:
        """Yield the lines of a file that are versions, without decoding the others."""
        wanted = msgspec.json.encode(self.entry_id)
        position = data.find(wanted)
        while position >= 0:
            start = data.rfind(b"\n", 0, position) + 1
            end = data.find(b"\n", position)
            line = self.version_in(data[start : end if end >= 0 else len(data)])
            if line is not None:
                yield line
            position = data.find(wanted, max(end, position + 1))

    def version_in(self, raw: bytes) -> bytes | None:
        """Return the version that a line holds, or None if the line is no whole entry."""
        project = split_id(self.entry_id)[0]
        reader = LineReader(project=project, limits=self.limits, instant=_EPOCH)
        match reader.read(bare(raw), lambda: "-"):
            case GoodLine() as good if good.header.id == self.entry_id:
                return good.line if good.migrated or not good.rewritten else None
            case _:
                return None


def _take_backup(
    traces: Traces, backup_folder: BackupFolder, manifest: Manifest, reader: _VersionReader
) -> None:
    if manifest.mode is BackupKind.FULL:
        for name in (ENTRIES_NAME, KEPT_NAME):
            for line in reader.versions_in(backup_folder.read(manifest, name)):
                _trace(traces, line, manifest.id)
    _take_changes(traces, changes_of(backup_folder, manifest), reader.entry_id, manifest.id)


def _take_changes(traces: Traces, logged: list[Logged], entry_id: str, place: str) -> None:
    for one in logged:
        made = one.change_set
        for change in made.changes:
            if change.id != entry_id:
                continue
            trace = _trace(traces, bytes(change.entry), place)
            if isinstance(change, Put):
                trace.written_utc, trace.by, trace.command = made.at_utc, made.user, made.command
                trace.ended_utc = trace.reason = None
            else:
                trace.ended_utc, trace.reason = made.at_utc, change.reason


def _trace(traces: Traces, line: bytes, place: str) -> Trace:
    trace = traces.setdefault(version_of(decode_line(line)), Trace(line))
    trace.found_in[place] = None
    return trace


def _item(version: str, trace: Trace, present: str | None, shows: Visibility | None) -> VersionItem:
    """Return the item of a version; with a visibility, it includes the visible entry."""
    document = decode_line(trace.line)
    return VersionItem(
        version=version,
        title=document["title"],
        is_present=version == present,
        written_utc=_text(trace.written_utc),
        by=trace.by,
        command=trace.command,
        ended_utc=_text(trace.ended_utc),
        reason=trace.reason,
        found_in=list(trace.found_in),
        entry=shows.shown(document) if shows else None,
    )


def _updated_utc(line: bytes) -> datetime:
    return datetime.fromisoformat(decode_line(line)["timestamps"]["updatedUtc"])


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else instant_text(moment)
