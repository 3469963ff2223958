"""consolidateEntries and autoConsolidate: merge several entries into one, in one change each."""

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, UnsetType

from qms.commands.call import Call, no_entry
from qms.commands.command import EXAMPLE_ID, OTHER_EXAMPLE_ID, command
from qms.commands.entry_writes import check_quota, living, write_rules
from qms.commands.requests import Conditions, Request, Response
from qms.commands.secrets_policy import withhold
from qms.features.consolidation.merged_entry import (
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
from qms.features.lists.list_entries import newest
from qms.features.summaries.summaries import SummaryWriter
from qms.memory.access import AccessTier, check_delete, may_edit
from qms.memory.bodies import Kind
from qms.memory.entry import Document, Retention
from qms.memory.entry_input import new_document
from qms.memory.errors import ConflictError, NotFoundError, invalid
from qms.memory.filters import Filter
from qms.store.draft import Draft
from qms.store.view import Record

ATTEMPTS = 5
"""How often a summary is made in all, if a source changes while it is made."""

MAX_GROUPS = 100
"""One call consolidates at most this many groups."""

MAX_COMPARED = 5000
"""At most this many entries are compared, the last changed ones."""

ALIKE = 0.8
"""Entries with at least this cosine are about the same."""

Method = Literal["given", "extractive", "llm"]
_GIVEN: Method = "given"
_EXTRACTIVE: Method = "extractive"


class ConsolidateRequest(Request, frozen=True):
    """The entries to merge, and the fields of the new entry."""

    ids: Annotated[tuple[str, ...], msgspec.Meta(min_length=MIN_SOURCES, max_length=MAX_SOURCES)]
    title: str | None = None
    summary: str | None = None
    kind: Kind = Kind.NOTE
    namespace: str | None = None
    retention: Retention = Retention.LONG
    force: bool = False
    """Whether permanent entries are allowed among them."""
    dry_run: bool = False


class ConsolidateAnswer(Response, frozen=True):
    """The new entry, without id in a dry run, and the method of its summary."""

    id: str | None
    version: str | None
    title: str
    consolidated: int
    method: Method
    warnings: tuple[str, ...] | UnsetType = UNSET


class AutoRequest(Conditions, frozen=True):
    """The grouping, and the smallest size of a group."""

    by: Literal["tag", "similarity"] = "tag"
    min_count: Annotated[int, msgspec.Meta(ge=MIN_SOURCES, le=MAX_SOURCES)] = 3
    short_only: bool = False
    namespace: str | None = None
    dry_run: bool = False


class AutoGroup(Response, frozen=True):
    """Entries that were merged, or would be; without `id` they were not changed."""

    key: str
    ids: list[str]
    title: str
    id: str | UnsetType = UNSET


class AutoAnswer(Response, frozen=True):
    """The groups, and the total number of consolidated entries."""

    groups: list[AutoGroup]
    consolidated: int


class _Sources(msgspec.Struct, frozen=True):
    """The entries to merge, and whether permanent ones may be archived."""

    records: Sequence[Record]
    force: bool


class _ChangedError(Exception):
    """A source changed after the summary was made."""


@command(
    tier=AccessTier.WRITER,
    toolset="lifecycle",
    help="Make one entry of 2 to 100; the sources go to the archive",
    example={
        "ids": [EXAMPLE_ID, OTHER_EXAMPLE_ID],
        "title": "How the parser is released",
        "dryRun": True,
    },
    destructive=True,
)
def consolidate_entries(call: Call, request: ConsolidateRequest) -> ConsolidateAnswer:
    """Merge several entries into one and archive them, in one change."""
    ids = list(dict.fromkeys(map(call.own_id, request.ids)))
    if len(ids) < MIN_SOURCES:
        raise invalid("ids", "must name at least two different entries")
    for _ in range(ATTEMPTS):
        sources = [call.find(entry_id) for entry_id in ids]
        for record in sources:
            # The writer checks it too, but not in a dry run, and a summary costs time.
            check_delete(call.caller.access, record.header, force=request.force)
        try:
            return _consolidated(call, request, sources)
        except _ChangedError:
            continue
    raise ConflictError("the entries changed while they were summarized: try again")


@command(
    tier=AccessTier.WRITER,
    toolset="lifecycle",
    help="Consolidate provisional entries that share their first tag, or are alike",
    example={"by": "tag", "minCount": 5, "shortOnly": True, "dryRun": True},
    destructive=True,
    searches=True,
)
def auto_consolidate(call: Call, request: AutoRequest) -> AutoAnswer:
    """Consolidate groups of entries with the same first tag, or with similar vectors."""
    found = [_consolidate_group(call, request, one) for one in _groups(call, request)[:MAX_GROUPS]]
    is_done = [request.dry_run or group.id is not UNSET for group in found]
    count = sum(len(group.ids) for group, done in zip(found, is_done, strict=True) if done)
    return AutoAnswer(groups=found, consolidated=count)


def _consolidated(
    call: Call, request: ConsolidateRequest, sources: Sequence[Record]
) -> ConsolidateAnswer:
    given, method = _entry(call, request, sources)
    entry, warnings = withhold(given, call.endpoint.secrets, call.rules.limits)
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
    merged = _Sources(sources, force=request.force)
    record = call.commit(lambda draft: _replace(draft, call, merged, entry, local_id))
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
            # One request for all of them: a hundred requests would take too long.
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


def _replace(draft: Draft, call: Call, merged: _Sources, entry: Document, local_id: str) -> Record:
    writing = write_rules(call)
    for source in merged.records:
        current = living(draft, source.header.id, call.now)
        if current is None:
            raise no_entry(source.header.id)
        if current.line != source.line:
            raise _ChangedError
        draft.remove(source.header.id, reason=REASON, force=merged.force)
    document = new_document(
        entry, local_id=local_id, now=call.now, caller=call.caller, rules=writing.rules
    )
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
    from qms.search.similarity import alike_pairs  # numpy: after the port answers

    source = call.context.indexer.source(call.store, now=call.now, with_superseded=True)
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
        return answer  # another writer was faster: the next call takes the rest
    return answer if made.id is None else msgspec.structs.replace(answer, id=made.id)
