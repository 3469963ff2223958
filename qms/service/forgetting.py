"""forgetEntries: many entries to the archive at once, by words, filter or ids."""

from datetime import datetime
from typing import Annotated

import msgspec

from qms.codec.documents import over_limit
from qms.domain.access import may_edit
from qms.domain.errors import invalid
from qms.domain.lifecycle import is_expired
from qms.domain.queries import Filter, matches_document, matches_header
from qms.domain.relations import AwareTime
from qms.index.documents import index_document
from qms.index.terms import plain_words
from qms.service.authorship import Authored, written_by
from qms.service.calls import Call
from qms.service.requests import Request, Response
from qms.store.draft import Draft
from qms.store.view import Record

REASON = "forgotten"

Ids = Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]


class ForgetRequest(Request, frozen=True):
    """What to forget: all conditions that are given must hold, and one must be given."""

    pattern: Annotated[str, msgspec.Meta(min_length=1)] | None = None
    filter: Filter | None = None
    ids: Ids | None = None
    author: Annotated[str, msgspec.Meta(min_length=1)] | None = None
    """A user or an agent: what it made, by the audit log."""
    since: AwareTime | None = None
    """Only what the author made since then."""
    dry_run: bool = False


class ForgetAnswer(Response, frozen=True):
    """What went to the archive, or would; what the caller may not delete stays and is named."""

    forgotten: int
    ids: list[str]
    not_allowed: list[str]
    changed: list[str]
    """Entries of others that the author changed; `history` has what they were."""
    undo_id: str | None
    """What `undoForget` takes to bring all of it back."""
    dry_run: bool


class _Wanted(msgspec.Struct, frozen=True):
    """The conditions in the form in which every entry is held against them."""

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


def forget_entries(call: Call, request: ForgetRequest) -> ForgetAnswer:
    """Move everything that matches to the archive, in one change; permanent entries stay."""
    wanted = _conditions(call, request)
    if request.dry_run:
        found, refused = _divided(call, list(call.store.view.records.values()), wanted)
        return _answer(found, refused, wanted, dry_run=True)

    # Found on a view, decided again inside the writer: nothing that was changed meanwhile goes.
    candidates = [one.header.id for one in call.store.view.records.values() if wanted.matches(one)]

    undo_id = call.new_local_id()

    def plan(draft: Draft) -> ForgetAnswer:
        records = [one for entry_id in candidates if (one := draft.get(entry_id)) is not None]
        found, refused = _divided(call, records, wanted)
        for entry_id in found:
            draft.remove(entry_id, reason=REASON, undo_id=undo_id)
        return _answer(found, refused, wanted, undo_id=undo_id if found else None)

    return call.commit(plan)


def _conditions(call: Call, request: ForgetRequest) -> _Wanted:
    words = frozenset(plain_words(request.pattern or ""))
    given_filter = request.filter or Filter()
    if request.pattern is not None and not words:
        raise invalid("pattern", "holds no word")
    if request.since is not None and request.author is None:
        raise invalid("author", "is required with since: whose entries?")
    has_set = request.ids is not None or request.author is not None
    if not words and given_filter == Filter() and not has_set:
        raise invalid("pattern", "is required, or a filter, or ids: nothing forgets everything")
    limit = call.settings.global_.limits.bulk_entries
    if request.ids is not None and len(request.ids) > limit:
        raise over_limit("ids", len(request.ids), limit, "bulkEntries")
    ids = None if request.ids is None else frozenset(map(call.own_id, request.ids))
    author, since = request.author, request.since
    authored = None if author is None else written_by(call, author, since)
    return _Wanted(words, given_filter, ids, authored, call.now)


def _divided(call: Call, records: list[Record], wanted: _Wanted) -> tuple[list[str], list[str]]:
    found: list[str] = []
    refused: list[str] = []
    for record in records:
        if wanted.matches(record):
            header = record.header
            is_free = may_edit(call.caller.access, header) and not header.is_permanent
            (found if is_free else refused).append(header.id)
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
