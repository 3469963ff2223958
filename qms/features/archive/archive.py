"""Archive commands: list archived versions, restore one, or purge them."""

from collections import Counter
from datetime import datetime, timedelta
from typing import Annotated

import msgspec

from qms.commands.answers import EntryAnswer, Rendered, entry_answer
from qms.commands.call import Call
from qms.commands.command import EXAMPLE_ID, command
from qms.commands.cursors import CursorSigner
from qms.commands.entry_writes import WriteRules, check_quota, living, write_rules
from qms.commands.formats import TokenBudget, longest
from qms.commands.requests import Conditions, NoArguments, Request, Response
from qms.commands.rows import ItemTable
from qms.features.backups.history import find_line
from qms.features.backups.queue import BackupQueue
from qms.features.lists.list_entries import check_count
from qms.memory.access import AccessTier
from qms.memory.bodies import Kind
from qms.memory.entry import Document, Header
from qms.memory.entry_input import keep_author, new_document
from qms.memory.errors import ConflictError, NotFoundError, invalid
from qms.memory.filters import Format, Page
from qms.memory.parts import PART_OF
from qms.memory.relations import AwareTime
from qms.memory.retention import is_expired
from qms.memory.validation import instant_text
from qms.store.archive_lines import Archived
from qms.store.draft import Draft
from qms.store.view import Record

Days = Annotated[int, msgspec.Meta(ge=0, le=36_500)]


class ArchiveFilter(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True
):
    """Conditions that all must hold; After is inclusive, Before exclusive."""

    id: str | None = None
    reason: str | None = None
    by: str | None = None
    namespace: str | None = None
    archived_after: AwareTime | None = None
    archived_before: AwareTime | None = None


class ListArchiveRequest(Request, frozen=True):
    """The filter of archived versions, and the page."""

    filter: ArchiveFilter | None = None
    page: Page | None = None
    format: Format = Format.JSON
    max_tokens: TokenBudget | None = None


class ArchivedSummary(Response, frozen=True):
    """An archived version in a list."""

    id: str
    kind: str
    title: str
    reason: str
    by: str
    archived_utc: str


class ListArchiveAnswer(Response, frozen=True):
    """One page, the last archived first."""

    items: list[ArchivedSummary]
    next_cursor: str | None


class RestoreRequest(Request, frozen=True):
    """The entry, and its version: the last archived, the one archived at a time, or any."""

    id: str
    archived_utc: AwareTime | None = None
    version: str | None = None


class PurgeRequest(Conditions, frozen=True):
    """The archived versions to delete permanently: the older ones, or all."""

    older_than_days: Days | None = None
    all: bool = False
    dry_run: bool = False


class PurgeAnswer(Response, frozen=True):
    """The number of versions deleted, or that would be deleted."""

    purged: int


class ArchiveStats(Response, frozen=True):
    """The size of the archive, and its versions by reason."""

    archived: int
    bytes: int
    by_reason: dict[str, int]
    oldest_utc: str | None
    newest_utc: str | None


@command(
    tier=AccessTier.READER,
    toolset="lifecycle",
    help="List what left the project: expired, deleted, forgotten, superseded",
    example={"filter": {"reason": "expired"}},
    read_only=True,
    idempotent=True,
    care=True,
)
def list_archive(call: Call, request: ListArchiveRequest) -> ListArchiveAnswer | Rendered:
    """Return one page of the archived versions."""
    page, wanted = request.page or Page(), request.filter or ArchiveFilter()
    check_count("page.size", page.size, call.settings.global_.limits.results)
    if wanted.id is not None:
        wanted = msgspec.structs.replace(wanted, id=call.full_id(wanted.id))
    signer = CursorSigner(call.context.cursor_secret, call.project, "archive", wanted)
    # Positions count from the oldest, so that newly archived versions do not shift them.
    before = None if page.cursor is None else signer.read(page.cursor, int)
    found = [
        (position, one)
        for position, one in enumerate(call.store.archive.entries(call.deadline))
        if (before is None or position < before) and _matches(wanted, one)
    ]
    found.reverse()

    def answer(count: int) -> ListArchiveAnswer | Rendered:
        shown = [_summary(one) for _, one in found[:count]]
        cursor = signer.sign(found[count - 1][0]) if count < len(found) else None
        if request.format is Format.JSON:
            return ListArchiveAnswer(items=shown, next_cursor=cursor)
        table = ItemTable(
            request.format, call.project, ArchivedSummary, name="archived", ids=["id"]
        )
        return table.rendered(shown, nextCursor=cursor)

    return longest(answer, min(page.size, len(found)), request.max_tokens)


@command(
    tier=AccessTier.CURATOR,
    toolset="lifecycle",
    help="Bring an archived entry back, or any version that history names",
    example={"id": EXAMPLE_ID},
    care=True,
)
def restore_entry(call: Call, request: RestoreRequest) -> EntryAnswer:
    """Restore an archived version, without an expiry."""
    entry_id, writing = call.own_id(request.id), write_rules(call)
    if request.version is not None:
        return restore_version(call, entry_id, request.version)
    archived = _last_version(call, entry_id, request.archived_utc)
    if archived.entry.get("kind") == Kind.CHUNK.value:
        raise invalid("id", "a chunk is restored with its document")
    parts = _archived_with(call, archived)

    def plan(draft: Draft) -> Record:
        if living(draft, entry_id, writing.now) is not None:
            raise ConflictError(f"entry {entry_id} exists: delete it before restoring", id=entry_id)
        record = draft.put(_restored(draft, archived.entry, writing))
        for part in parts:
            if living(draft, part["id"], writing.now) is None:
                draft.put(_restored(draft, part, writing))
        return record

    return entry_answer(call.visible(call.commit(plan)))


def _restored(draft: Draft, entry: Document, writing: WriteRules) -> Document:
    document = new_document(
        _without_expiry(entry),
        local_id=entry["id"],
        now=writing.now,
        caller=writing.caller,
        rules=writing.rules,
    )
    document.pop("ttlUtc", None)  # its retention would set a new expiry at once
    keep_author(document, entry)
    check_quota(draft, writing, document, None)
    return document


def _archived_with(call: Call, archived: Archived) -> list[Document]:
    """Return the chunks that went to the archive together with their document."""
    if archived.entry.get("kind") != Kind.DOCUMENT.value:
        return []
    return [
        one.entry
        for one in call.store.archive.entries(call.deadline)
        if one.archived_utc == archived.archived_utc
        and one.reason == archived.reason
        and one.entry.get("kind") == Kind.CHUNK.value
        and any(
            relation.get("type") == PART_OF and relation.get("targetId") == archived.entry["id"]
            for relation in one.entry.get("relations", [])
        )
    ]


def restore_version(call: Call, entry_id: str, version: str) -> EntryAnswer:
    """Restore a version that history lists; it replaces the current one."""
    writing = write_rules(call)
    line = find_line(call.store, call.context.part(BackupQueue).backup_folder, entry_id, version)
    wanted = Record.from_line(line)
    if wanted.header.kind in (Kind.DOCUMENT, Kind.CHUNK) and _has_parts(call, wanted.header):
        raise invalid("version", "a document with chunks is stored again, or restored when deleted")

    def plan(draft: Draft) -> Record:
        before = living(draft, entry_id, writing.now)
        document = wanted.document()
        check_quota(draft, writing, document, before)
        if before is not None and before.line == line:
            return before
        if is_expired(wanted.header, writing.now):
            return draft.put(_without_expiry(document))
        return draft.put_line(line)

    return entry_answer(call.visible(call.commit(plan)))


@command(
    tier=AccessTier.ADMIN,
    toolset="lifecycle",
    help="Let archived versions go for good: those older than some days, or all",
    example={"olderThanDays": 90, "dryRun": True},
    destructive=True,
    idempotent=True,
    care=True,
)
def purge_archive(call: Call, request: PurgeRequest) -> PurgeAnswer:
    """Delete archived versions permanently."""
    if request.all == (request.older_than_days is not None):
        raise invalid("olderThanDays", "exactly one of olderThanDays and all is required")
    days = request.older_than_days
    before = None if days is None else call.now - timedelta(days=days)

    def is_purged(one: Archived) -> bool:
        return before is None or one.archived_utc < before

    archive = call.store.archive
    if request.dry_run:
        return PurgeAnswer(purged=sum(map(is_purged, archive.entries())))
    # Recorded first: the purge itself leaves no trace.
    call.record("purge", f"archive/{call.project}")
    return PurgeAnswer(purged=archive.purge(is_purged))


@command(
    tier=AccessTier.READER,
    toolset="lifecycle",
    help="Count what the archive holds, by reason",
    read_only=True,
    idempotent=True,
    care=True,
)
def archive_stats(call: Call, _request: NoArguments) -> ArchiveStats:
    """Return the statistics of the archive."""
    found = call.store.archive.entries(call.deadline)
    times = [one.archived_utc for one in found]
    return ArchiveStats(
        archived=len(found),
        bytes=sum(len(msgspec.json.encode(one)) + 1 for one in found),
        by_reason=dict(sorted(Counter(one.reason for one in found).items())),
        oldest_utc=instant_text(min(times)) if times else None,
        newest_utc=instant_text(max(times)) if times else None,
    )


def _last_version(call: Call, entry_id: str, archived_utc: datetime | None) -> Archived:
    for one in reversed(call.store.archive.entries()):
        if one.entry["id"] == entry_id and archived_utc in (None, one.archived_utc):
            return one
    raise NotFoundError(f"the archive has no version of {entry_id!r}", id=entry_id)


def _has_parts(call: Call, header: Header) -> bool:
    return header.kind is Kind.CHUNK or bool(call.store.view.parts_of(header.id))


def _without_expiry(entry: Document) -> Document:
    return {key: value for key, value in entry.items() if key != "ttlUtc"}


def _matches(wanted: ArchiveFilter, one: Archived) -> bool:
    return (
        wanted.id in (None, one.entry["id"])
        and wanted.reason in (None, one.reason)
        and wanted.by in (None, one.by)
        and wanted.namespace in (None, one.entry.get("namespace"))
        and (wanted.archived_after is None or one.archived_utc >= wanted.archived_after)
        and (wanted.archived_before is None or one.archived_utc < wanted.archived_before)
    )


def _summary(one: Archived) -> ArchivedSummary:
    return ArchivedSummary(
        id=one.entry["id"],
        kind=str(one.entry.get("kind", "")),
        title=str(one.entry.get("title", "")),
        reason=one.reason,
        by=one.by,
        archived_utc=instant_text(one.archived_utc),
    )
