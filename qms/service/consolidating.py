"""consolidateEntries and autoConsolidate: many entries become one, in one change each."""

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, UnsetType

from qms.codec.documents import header_of
from qms.domain.access import check_create, check_delete, may_edit
from qms.domain.bodies import Kind
from qms.domain.entry import Document, Retention
from qms.domain.errors import ConflictError, NotFoundError, invalid
from qms.domain.queries import Filter
from qms.ingest.entries import new_document
from qms.ingest.withhold import withhold
from qms.service.calls import Call, no_entry
from qms.service.listing import newest
from qms.service.requests import Request, Response
from qms.service.summaries import SummaryWriter
from qms.service.writing import check_quota, living, writing_for
from qms.store.draft import Draft
from qms.store.view import Record
from qms.upkeep.consolidate import (
    MAX_SOURCES,
    MIN_SOURCES,
    REASON,
    Group,
    groups_by_likeness,
    groups_by_tag,
    may_go_by_itself,
    merged_fields,
    summary_of,
    title_for,
)

ATTEMPTS = 5
"""How often a summary is made anew because somebody changed a source meanwhile."""

MAX_GROUPS = 100
"""So many groups are consolidated by one call."""

MAX_COMPARED = 5000
"""Likeness is looked for among the last changed entries, at most so many."""

ALIKE = 0.8
"""From this cosine on entries are taken to be about the same."""

Method = Literal["given", "extractive", "llm"]
_GIVEN: Method = "given"
_EXTRACTIVE: Method = "extractive"


class ConsolidateRequest(Request, frozen=True):
    """Which entries become one, and what that one is."""

    ids: Annotated[tuple[str, ...], msgspec.Meta(min_length=MIN_SOURCES, max_length=MAX_SOURCES)]
    title: str | None = None
    summary: str | None = None
    kind: Kind = Kind.NOTE
    namespace: str | None = None
    retention: Retention = Retention.LONG
    dry_run: bool = False


class ConsolidateAnswer(Response, frozen=True):
    """The one entry, which a trial run does not make, and how its summary came about."""

    id: str | None
    version: str | None
    title: str
    consolidated: int
    method: Method
    warnings: tuple[str, ...] | UnsetType = UNSET


class AutoRequest(Request, frozen=True):
    """What belongs together, and from how many entries on it becomes one."""

    by: Literal["tag", "similarity"] = "tag"
    min_count: Annotated[int, msgspec.Meta(ge=MIN_SOURCES, le=MAX_SOURCES)] = 3
    short_only: bool = False
    namespace: str | None = None
    dry_run: bool = False


class AutoGroup(Response, frozen=True):
    """Entries that became one, or would; without `id` they were left as they are."""

    key: str
    ids: list[str]
    title: str
    id: str | UnsetType = UNSET


class AutoAnswer(Response, frozen=True):
    """The groups, and how many entries were consolidated in all."""

    groups: list[AutoGroup]
    consolidated: int


class _ChangedError(Exception):
    """A source is no longer what the summary was made of."""


def consolidate_entries(call: Call, request: ConsolidateRequest) -> ConsolidateAnswer:
    """Make one entry of several, which go to the archive, in one change."""
    ids = list(dict.fromkeys(map(call.own_id, request.ids)))
    if len(ids) < MIN_SOURCES:
        raise invalid("ids", "names fewer than two different entries")
    for _ in range(ATTEMPTS):
        sources = [call.find(entry_id) for entry_id in ids]
        for record in sources:
            check_delete(call.caller.access, record.header, force=False)
        try:
            return _consolidated(call, request, sources)
        except _ChangedError:
            continue
    raise ConflictError("the entries change faster than they can be summed up: try again")


def auto_consolidate(call: Call, request: AutoRequest) -> AutoAnswer:
    """Consolidate what has the same first tag, or is alike, where there is enough of it."""
    found = [_consolidate_group(call, request, one) for one in _groups(call, request)[:MAX_GROUPS]]
    is_done = [request.dry_run or group.id is not UNSET for group in found]
    count = sum(len(group.ids) for group, done in zip(found, is_done, strict=True) if done)
    return AutoAnswer(groups=found, consolidated=count)


def _consolidated(
    call: Call, request: ConsolidateRequest, sources: Sequence[Record]
) -> ConsolidateAnswer:
    given, method = _entry(call, request, sources)
    entry, warnings = withhold(given, call.endpoint.secrets)
    answer = ConsolidateAnswer(
        id=None,
        version=None,
        title=entry["title"],
        consolidated=len(sources),
        method=method,
        warnings=warnings or UNSET,
    )
    if request.dry_run:
        return answer
    local_id = call.new_local_id()
    record = call.commit(lambda draft: _replace(draft, call, sources, entry, local_id))
    return msgspec.structs.replace(answer, id=record.header.id, version=record.version())


def _entry(
    call: Call, request: ConsolidateRequest, sources: Sequence[Record]
) -> tuple[Document, Method]:
    limits = call.settings.global_.limits
    fields = merged_fields(sources, max_tags=limits.tags)
    if request.namespace is not None:
        fields["namespace"] = request.namespace
    text, method = request.summary, _GIVEN
    if text is None:
        writer = SummaryWriter(call)
        text, method = summary_of(sources, writer.by_rule, max_bytes=limits.text_bytes), _EXTRACTIVE
        if writer.method == "llm":
            # One question about all of them: a hundred answers would be waited for too long.
            written, method = writer.write(text)
            text = written if method == "llm" else text
    entry = {
        **fields,
        "kind": request.kind.value,
        "title": request.title or title_for(sources),
        "body": text,
        "retention": request.retention.value,
    }
    return entry, method


def _replace(
    draft: Draft, call: Call, sources: Sequence[Record], entry: Document, local_id: str
) -> Record:
    writing = writing_for(call)
    for source in sources:
        current = living(draft, source.header.id, call.now)
        if current is None:
            raise no_entry(source.header.id)
        if current.line != source.line:
            raise _ChangedError
        check_delete(call.caller.access, current.header, force=False)
        draft.remove(source.header.id, reason=REASON)
    document = new_document(
        entry, local_id=local_id, now=call.now, caller=call.caller, rules=writing.rules
    )
    check_create(call.caller.access, header_of(document))
    check_quota(draft, writing, document, None)
    return draft.put(document)


def _groups(call: Call, request: AutoRequest) -> list[Group]:
    retired = call.store.superseded(call.now)
    records = [
        record
        for record in newest(call, Filter(namespace=request.namespace))
        if may_go_by_itself(record.header, record.document(), short_only=request.short_only)
        and record.header.id not in retired
        and may_edit(call.caller.access, record.header)
    ]
    if request.by == "tag":
        return groups_by_tag(records, least=request.min_count)
    return _alike(call, records[:MAX_COMPARED], request.min_count)


def _alike(call: Call, records: list[Record], least: int) -> list[Group]:
    from qms.search.likeness import alike_pairs  # numpy: after the port answers

    source = call.house.library.source(call.store, now=call.now, with_superseded=True)
    found = alike_pairs(source, [record.header.id for record in records], ALIKE)
    return groups_by_likeness(records, [(one.a, one.b) for one in found], least=least)


def _consolidate_group(call: Call, request: AutoRequest, group: Group) -> AutoGroup:
    ids = [record.header.id for record in group.records]
    name = group.key.rpartition("/")[2] if request.by == "tag" else group.key
    title = title_for(group.records, name)
    answer = AutoGroup(key=group.key, ids=ids, title=title)
    if request.dry_run:
        return answer
    wanted = ConsolidateRequest(ids=tuple(ids), title=title)
    try:
        made = consolidate_entries(call, wanted)
    except (ConflictError, NotFoundError):
        return answer  # somebody was faster: what is left is for the next time
    return answer if made.id is None else msgspec.structs.replace(answer, id=made.id)
