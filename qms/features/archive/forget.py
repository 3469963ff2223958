"""forgetEntries: archive many entries at once, by words, filter, ids or author."""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Annotated

import msgspec

from qms.commands.call import Call
from qms.commands.command import command
from qms.commands.requests import Conditions, Response
from qms.index.indexed_entry import index_document
from qms.memory.access import AccessTier, may_edit
from qms.memory.errors import invalid
from qms.memory.filters import Filter, matches_document, matches_header
from qms.memory.limits import limited_by
from qms.memory.parts import document_id_of
from qms.memory.relations import AwareTime
from qms.memory.retention import is_expired
from qms.search.query import check_query_bytes
from qms.store.draft import Draft
from qms.store.view import Record
from qms.telemetry.audit_chain import AuditRecord
from qms.telemetry.audit_pages import MAX_SCANNED, AuditFilter, newest_records
from qms.text.terms import plain_words


class Authored(msgspec.Struct, frozen=True):
    """The entries that a user or an agent created, and those of others that it changed."""

    created: frozenset[str]
    changed: frozenset[str]


def written_by(call: Call, author: str, since: datetime | None) -> Authored:
    """Return the entries that a user or an agent wrote in the project since a moment."""
    wanted = AuditFilter(project=call.project, since_utc=since)
    created: set[str] = set()
    changed: set[str] = set()
    before: int | None = None
    while True:
        page = newest_records(call.context.audit.path, wanted, size=MAX_SCANNED, before=before)
        for record in page.records:
            if _is_by(record, author):
                created.update(one.id for one in record.changes if one.op == "create")
                changed.update(one.id for one in record.changes if one.op == "update")
        before = page.next_before
        if before is None:
            return Authored(frozenset(created), frozenset(changed - created))


def _is_by(record: AuditRecord, author: str) -> bool:
    return author in (record.user, record.agent_id)


REASON = "forgotten"

Ids = Annotated[tuple[str, ...], msgspec.Meta(min_length=1), limited_by("bulkEntries")]


class ForgetRequest(Conditions, frozen=True):
    """The entries to archive: every given condition must hold, and one must be given."""

    pattern: Annotated[str, msgspec.Meta(min_length=1)] | None = None
    filter: Filter | None = None
    ids: Ids | None = None
    author: Annotated[str, msgspec.Meta(min_length=1)] | None = None
    """A user or an agent: selects the entries that it created, by the audit log."""
    since: AwareTime | None = None
    """Only entries that the author created since then."""
    dry_run: bool = False


class ForgetAnswer(Response, frozen=True):
    """The archived entries, or those of a dry run; `notAllowed` names those that stay.

    The chunks of an archived document go with it and are not named.
    """

    forgotten: int
    ids: list[str]
    not_allowed: list[str]
    changed: list[str]
    """Entries of others that the author changed; `history` has their earlier versions."""
    undo_id: str | None
    """The id with which `undoForget` restores all of them."""
    dry_run: bool


class _Wanted(msgspec.Struct, frozen=True):
    """The conditions, prepared for matching entries."""

    words: frozenset[str]
    filter: Filter
    ids: frozenset[str] | None
    authored: Authored | None
    now: datetime

    def matches(self, record: Record) -> bool:
        header = record.header
        if is_expired(header, self.now) or not matches_header(self.filter, header):
            return False
        if self.ids is not None and header.id not in self.ids:
            return False
        if self.authored is not None and header.id not in self.authored.created:
            return False
        if not self.words and not self.filter.needs_document:
            return True
        document = record.document()
        return matches_document(self.filter, document) and self.words <= _words_of(record)


@command(
    tier=AccessTier.WRITER,
    toolset="lifecycle",
    help="Move all entries that match words, a filter, ids or an author to the archive",
    example={"pattern": "deprecated API", "filter": {"retention": "short"}, "dryRun": True},
    destructive=True,
    idempotent=True,
)
def forget_entries(call: Call, request: ForgetRequest) -> ForgetAnswer:
    """Archive every matching entry, in one change; permanent entries stay."""
    wanted = _conditions(call, request)
    # Texts are read on a view; inside the writer only those that changed in between.
    matching = [one for one in call.store.view.records.values() if wanted.matches(one)]
    if request.dry_run:
        found, refused = _divided(call.caller.access, matching, call.store.view.get)
        return _answer(found, refused, wanted, dry_run=True)

    undo_id = call.new_local_id()

    def plan(draft: Draft) -> ForgetAnswer:
        still = list(_still_matching(matching, draft, wanted))
        found, refused = _divided(call.caller.access, still, draft.get)
        for entry_id in found:
            draft.remove(entry_id, reason=REASON, undo_id=undo_id)
        return _answer(found, refused, wanted, undo_id=undo_id if found else None)

    return call.commit(plan)


def _still_matching(matching: list[Record], draft: Draft, wanted: _Wanted) -> Iterator[Record]:
    for before in matching:
        record = draft.get(before.header.id)
        if record is not None and (record is before or wanted.matches(record)):
            yield record


def _conditions(call: Call, request: ForgetRequest) -> _Wanted:
    check_query_bytes(request.pattern or "", call.settings.global_.limits, "pattern")
    words = frozenset(plain_words(request.pattern or ""))
    given_filter = request.filter or Filter()
    if request.pattern is not None and not words:
        raise invalid("pattern", "must hold a word")
    if request.since is not None and request.author is None:
        raise invalid("author", "is required with since")
    has_set = request.ids is not None or request.author is not None
    if not words and given_filter == Filter() and not has_set:
        raise invalid("pattern", "pattern, filter, ids or author is required")
    ids = None if request.ids is None else frozenset(map(call.own_id, request.ids))
    author, since = request.author, request.since
    authored = None if author is None else written_by(call, author, since)
    shown = call.visibility.shown_filter(given_filter)
    return _Wanted(words, shown, ids, authored, call.now)


def _divided(
    access: AccessTier, records: list[Record], get: Callable[[str], Record | None]
) -> tuple[list[str], list[str]]:
    """Return the ids of the entries to archive, and of those that stay.

    A chunk goes with its document and not without it.
    """
    found: list[str] = []
    refused: list[str] = []
    parts: list[tuple[str, str]] = []
    for record in records:
        header = record.header
        document_id = document_id_of(header)
        if document_id is not None and get(document_id) is not None:
            parts.append((header.id, document_id))
        else:
            is_free = may_edit(access, header) and not header.is_permanent
            (found if is_free else refused).append(header.id)
    gone = frozenset(found)
    refused += [part_id for part_id, document_id in parts if document_id not in gone]
    return found, refused


def _words_of(record: Record) -> frozenset[str]:
    document = index_document(record.header, record.document())
    parts = (document.title, document.text, *record.header.tags)
    return frozenset(plain_words("\n".join(parts)))


def _answer(
    found: list[str],
    refused: list[str],
    wanted: _Wanted,
    *,
    undo_id: str | None = None,
    dry_run: bool = False,
) -> ForgetAnswer:
    return ForgetAnswer(
        forgotten=len(found),
        ids=sorted(found),
        not_allowed=sorted(refused),
        changed=sorted(wanted.authored.changed) if wanted.authored else [],
        undo_id=undo_id,
        dry_run=dry_run,
    )
