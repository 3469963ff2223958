"""The archive: list what left a project, bring it back, or let it go for good."""

from collections import Counter
from datetime import datetime, timedelta
from typing import Annotated

import msgspec

from qms.codec.documents import header_of, instant_text
from qms.domain.access import check_create, check_edit
from qms.domain.entry import Document
from qms.domain.errors import ConflictError, NotFoundError, invalid
from qms.domain.lifecycle import is_expired
from qms.domain.queries import Format, Page
from qms.domain.relations import AwareTime
from qms.ingest.entries import keep_author, new_document
from qms.service.answers import EntryAnswer, Rendered, entry_answer
from qms.service.calls import Call
from qms.service.cursors import CursorSigner
from qms.service.formats import TokenBudget, longest
from qms.service.history import find_line
from qms.service.listing import check_count
from qms.service.requests import NoArguments, Request, Response
from qms.service.tables import ItemTable
from qms.service.writing import check_quota, living, writing_for
from qms.store.archive import Archived
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
    """Which versions, page by page."""

    filter: ArchiveFilter | None = None
    page: Page | None = None
    format: Format = Format.JSON
    max_tokens: TokenBudget | None = None


class ArchivedSummary(Response, frozen=True):
    """What a list shows of an archived version."""

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
    """Which entry; its last archived version, the one archived then, or any by its version."""

    id: str
    archived_utc: AwareTime | None = None
    version: str | None = None


class PurgeRequest(Request, frozen=True):
    """What to let go for good: what is older, or all of it."""

    older_than_days: Days | None = None
    all: bool = False
    dry_run: bool = False


class PurgeAnswer(Response, frozen=True):
    """How many versions are gone, or would be."""

    purged: int


class ArchiveStats(Response, frozen=True):
    """What the archive holds."""

    archived: int
    bytes: int
    by_reason: dict[str, int]
    oldest_utc: str | None
    newest_utc: str | None


def list_archive(call: Call, request: ListArchiveRequest) -> ListArchiveAnswer | Rendered:
    """Return one page of the archived versions."""
    page, wanted = request.page or Page(), request.filter or ArchiveFilter()
    check_count("page.size", page.size, call.settings.global_.limits.results)
    if wanted.id is not None:
        wanted = msgspec.structs.replace(wanted, id=call.full_id(wanted.id))
    signer = CursorSigner(call.house.cursor_secret, call.project, "archive", wanted)
    # Counted from the oldest, so that what is archived meanwhile moves nothing.
    before = None if page.cursor is None else signer.read(page.cursor, int)
    found = [
        (position, one)
        for position, one in enumerate(call.store.archive.entries())
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


def restore_entry(call: Call, request: RestoreRequest) -> EntryAnswer:
    """Bring an archived version back; it has no end any more."""
    entry_id, writing = call.own_id(request.id), writing_for(call)
    if request.version is not None:
        return restore_version(call, entry_id, request.version)
    archived = _last_version(call, entry_id, request.archived_utc)

    def plan(draft: Draft) -> Record:
        if living(draft, entry_id, writing.now) is not None:
            raise ConflictError(f"entry {entry_id} lives: delete it before restoring", id=entry_id)
        document = new_document(
            _without_end(archived.entry),
            local_id=entry_id,
            now=writing.now,
            caller=writing.caller,
            rules=writing.rules,
        )
        document.pop("ttlUtc", None)  # its retention would give it a new end at once
        keep_author(document, archived.entry)
        check_create(writing.caller.access, header_of(document))
        check_quota(draft, writing, document, None)
        return draft.put(document)

    return entry_answer(call.commit(plan))


def restore_version(call: Call, entry_id: str, version: str) -> EntryAnswer:
    """Bring back a version that history names, also in the place of the one that lives."""
    writing = writing_for(call)
    line = find_line(call.store, call.house.desk.shelf, entry_id, version)
    wanted = Record.from_line(line)

    def plan(draft: Draft) -> Record:
        before = living(draft, entry_id, writing.now)
        if before is None:
            check_create(writing.caller.access, wanted.header)
        else:
            check_edit(writing.caller.access, before.header, wanted.header)
        document = wanted.document()
        check_quota(draft, writing, document, before)
        if before is not None and before.line == line:
            return before
        if is_expired(wanted.header, writing.now):
            return draft.put(_without_end(document))
        return draft.put_line(line)

    return entry_answer(call.commit(plan))


def purge_archive(call: Call, request: PurgeRequest) -> PurgeAnswer:
    """Let archived versions go for good."""
    if request.all == (request.older_than_days is not None):
        raise invalid("olderThanDays", "is required, or all: true in its place")
    days = request.older_than_days
    before = None if days is None else call.now - timedelta(days=days)

    def is_purged(one: Archived) -> bool:
        return before is None or one.archived_utc < before

    archive = call.store.archive
    if request.dry_run:
        return PurgeAnswer(purged=sum(map(is_purged, archive.entries())))
    # Beforehand: what is gone without a trace needs one.
    call.record("purge", f"archive/{call.project}")
    return PurgeAnswer(purged=archive.purge(is_purged))


def archive_stats(call: Call, _request: NoArguments) -> ArchiveStats:
    """Count what the archive holds."""
    found = call.store.archive.entries()
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


def _without_end(entry: Document) -> Document:
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
