"""history: every version of an entry that the store, its archive and its backups still hold."""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated

import msgspec

from qms.codec.documents import instant_text, version_of
from qms.codec.lines import decode_line
from qms.domain.changes import Put
from qms.domain.entry import Document
from qms.domain.errors import NotFoundError, invalid
from qms.domain.queries import Format
from qms.files.backup import ENTRIES_NAME, KEPT_NAME, Shelf
from qms.files.backup_manifest import BackupKind, BrokenBackupError, Manifest
from qms.files.change_log import Logged
from qms.service.answers import Rendered
from qms.service.calls import Call, no_entry
from qms.service.formats import TokenBudget, longest
from qms.service.requests import Request, Response
from qms.service.tables import ItemTable
from qms.store.memory_store import MemoryStore
from qms.store.past import changes_of

Most = Annotated[int, msgspec.Meta(ge=1, le=1000)]


class HistoryRequest(Request, frozen=True):
    """Of which entry; `full` asks for the entries themselves, which come as JSON."""

    id: str
    limit: Most = 50
    full: bool = False
    format: Format = Format.JSON
    max_tokens: TokenBudget | None = None


class VersionItem(Response, frozen=True):
    """One version: when it was written, by whom, and how it ended, as far as that is known."""

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
    """What is known of one version."""

    line: bytes
    written_utc: datetime | None = None
    by: str | None = None
    command: str | None = None
    ended_utc: datetime | None = None
    reason: str | None = None
    found_in: dict[str, None] = msgspec.field(default_factory=dict)

    @property
    def age_key(self) -> datetime:
        """Return by what versions are ordered: the beginning, else what the entry says."""
        return self.written_utc or _said_time(self.line)


Traces = dict[str, Trace]
"""By version."""


def history(call: Call, request: HistoryRequest) -> HistoryAnswer | Rendered:
    """Return what is known of an entry's versions."""
    if request.full and request.format is not Format.JSON:
        raise invalid("full", "rows have no room for entries: ask for them with format json")
    entry_id = call.own_id(request.id)
    items, omitted = told_versions(
        call.store, call.house.desk.shelf, entry_id, limit=request.limit, full=request.full
    )
    table = ItemTable(request.format, call.project, VersionItem, name="versions", without=["entry"])

    def answer(count: int) -> HistoryAnswer | Rendered:
        shown, left = items[:count], omitted + len(items) - count
        if request.format is Format.JSON:
            return HistoryAnswer(id=entry_id, items=shown, omitted=left)
        return table.rendered(shown, id=entry_id, omitted=left)

    return longest(answer, len(items), request.max_tokens)


def told_versions(
    store: MemoryStore, shelf: Shelf, entry_id: str, *, limit: int, full: bool
) -> tuple[list[VersionItem], int]:
    """Return the newest versions of an entry, and how many older ones are left out.

    Raises:
        NotFoundError: nothing holds any version of it.
    """
    traces = find_versions(store, shelf, entry_id)
    if not traces:
        raise no_entry(entry_id)
    record = store.view.get(entry_id)
    present = record.version() if record else None
    ordered = sorted(
        traces.items(), key=lambda one: (one[0] == present, one[1].age_key), reverse=True
    )
    items = [_item(version, trace, present, with_entry=full) for version, trace in ordered[:limit]]
    return items, len(ordered) - len(items)


def find_line(store: MemoryStore, shelf: Shelf, entry_id: str, version: str) -> bytes:
    """Return the line of one version of an entry.

    Raises:
        NotFoundError: nothing holds it any more.
    """
    found = find_versions(store, shelf, entry_id).get(version)
    if found is None:
        raise NotFoundError(
            f"nothing holds version {version[:64]!r} of {entry_id}", id=entry_id, version=version
        )
    return found.line


def find_versions(store: MemoryStore, shelf: Shelf, entry_id: str) -> Traces:
    """Return every version of an entry that can be brought back; broken backups are left out."""
    traces: Traces = {}
    made = [one for one in shelf.all(store.project) if isinstance(one, Manifest)]
    for manifest in made:
        try:
            _take_backup(traces, shelf, manifest, entry_id)
        except BrokenBackupError:
            continue
    _take_changes(traces, store.keepsake.present().logged, entry_id, "changes")
    for line, ended_utc, reason in store.archive.lines_of(entry_id):
        trace = _trace(traces, line, "archive")
        trace.ended_utc, trace.reason = ended_utc, reason
    record = store.view.get(entry_id)
    if record is not None:
        _trace(traces, record.line, "store").ended_utc = None
    return traces


def _take_backup(traces: Traces, shelf: Shelf, manifest: Manifest, entry_id: str) -> None:
    if manifest.mode is BackupKind.FULL:
        for name in (ENTRIES_NAME, KEPT_NAME):
            for line in _lines_with(shelf.read(manifest, name), entry_id):
                _trace(traces, line, manifest.id)
    _take_changes(traces, changes_of(shelf, manifest), entry_id, manifest.id)


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


def _lines_with(data: bytes, entry_id: str) -> Iterator[bytes]:
    """Yield the lines of a file that are versions of an entry, without decoding the others."""
    wanted = msgspec.json.encode(entry_id)
    position = data.find(wanted)
    while position >= 0:
        start = data.rfind(b"\n", 0, position) + 1
        end = data.find(b"\n", position)
        line = data[start : end if end >= 0 else len(data)].strip()
        if _is_entry(line, entry_id):
            yield line
        position = data.find(wanted, max(end, position + 1))


class _Named(msgspec.Struct):
    id: str = ""


def _is_entry(line: bytes, entry_id: str) -> bool:
    try:
        return msgspec.json.decode(line, type=_Named).id == entry_id
    except msgspec.MsgspecError:
        return False  # a person's line that is no entry


def _trace(traces: Traces, line: bytes, place: str) -> Trace:
    trace = traces.setdefault(version_of(decode_line(line)), Trace(line))
    trace.found_in[place] = None
    return trace


def _item(version: str, trace: Trace, present: str | None, *, with_entry: bool) -> VersionItem:
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
        entry=document if with_entry else None,
    )


def _said_time(line: bytes) -> datetime:
    return datetime.fromisoformat(decode_line(line)["timestamps"]["updatedUtc"])


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else instant_text(moment)
