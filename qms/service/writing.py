"""Putting one entry into a draft: the rules that every writing command shares.

All of it runs inside the store's writer, so that versions, duplicates, rights and quotas are
checked against what is queued before it, and not against what a reader saw some time ago.
"""

from datetime import datetime
from itertools import islice

import msgspec

from qms.codec.documents import header_of
from qms.codec.lines import encode_line
from qms.config.settings import Endpoint
from qms.domain.access import Caller, check_create, check_edit
from qms.domain.entry import Document, Header, split_id
from qms.domain.errors import ConflictError, TooLargeError, invalid
from qms.domain.ids import whole_id
from qms.domain.lifecycle import is_expired
from qms.ingest.entries import EntryRules, new_document, replaced_document
from qms.service.calls import Call, no_entry
from qms.store.draft import Draft
from qms.store.view import Record

MEGABYTE = 1024 * 1024
MAX_SIMILAR = 3

_SHOWN_TARGETS = 3


class Similar(msgspec.Struct, frozen=True, rename="camel"):
    """An entry that looks like the one just written."""

    id: str
    title: str
    score: float


class Stored(msgspec.Struct, frozen=True, kw_only=True):
    """What became of an entry; neither created nor updated means that it was there already."""

    record: Record
    created: bool = False
    updated: bool = False
    similar: tuple[Similar, ...] = ()
    warnings: tuple[str, ...] = ()


class Writing(msgspec.Struct, frozen=True, kw_only=True):
    """Who writes, when, and under which rules."""

    caller: Caller
    now: datetime
    rules: EntryRules
    endpoint: Endpoint


def writing_for(call: Call) -> Writing:
    """Return the rules under which a call writes."""
    return Writing(caller=call.caller, now=call.now, rules=call.rules, endpoint=call.endpoint)


def own_entry(given: Document, call: Call) -> Document:
    """Return a given entry with its id and project as the configuration spells the project.

    Raises:
        InvalidInputError: the entry names another project, or its vector does not fit the model.
    """
    check_vector(given, call)
    entry = with_whole_targets(given)
    project = entry.pop("project", None)
    if project is not None:
        if not isinstance(project, str) or project.casefold() != call.project.casefold():
            raise invalid("entry.project", f"is not {call.project}, whose endpoint this is")
        entry["project"] = call.project
    entry_id = entry.pop("id", None)
    if entry_id in (None, ""):
        return entry
    if not isinstance(entry_id, str):
        raise invalid("entry.id", "must be text")
    entry["id"] = call.full_id(entry_id)
    if split_id(entry["id"])[0] != call.project:
        raise invalid("entry.id", f"does not begin with {call.project}:, whose endpoint this is")
    return entry


def check_vector(given: Document, call: Call) -> None:
    """Raise `InvalidInputError` when the vector of an entry or a patch does not fit the model."""
    vector = given.get("embedding")
    if vector is not None:
        from qms.index.vector_codes import unit_query  # numpy: after the port answers

        unit_query(vector, call.house.library.embedder().dimension, "embedding")


def with_whole_targets(given: Document) -> Document:
    """Return an entry or a patch whose relations spell the ids of their targets as the files do."""
    relations = given.get("relations")
    if not isinstance(relations, list):
        return dict(given)
    whole = [
        {**one, "targetId": whole_id(one["targetId"])}
        if isinstance(one, dict) and isinstance(one.get("targetId"), str)
        else one
        for one in relations
    ]
    return {**given, "relations": whole}


def upsert(
    draft: Draft,
    entry: Document,
    writing: Writing,
    *,
    local_id: str,
    if_version: str | None = None,
    by_title: bool = False,
) -> Stored:
    """Create or replace one entry, or find that it is there already.

    Raises:
        QmsError: the entry is not stored, and the draft holds nothing of it.
    """
    if "id" in entry:
        before = living(draft, entry["id"], writing.now)
        check_version(before, if_version, entry["id"])
        if before is not None:
            return _replace(draft, entry, before, writing)
        return _create(draft, _made(entry, local_id, writing), writing)
    document = _made(entry, local_id, writing)
    return _upsert_without_id(draft, entry, document, writing, if_version, by_title=by_title)


def _upsert_without_id(
    draft: Draft,
    entry: Document,
    document: Document,
    writing: Writing,
    if_version: str | None,
    *,
    by_title: bool,
) -> Stored:
    header = header_of(document)
    target = _same_title(draft, header, writing.now) if by_title else None
    check_version(target, if_version, header.title)
    twin = draft.find_exact(document)
    if twin is not None and living(draft, twin.header.id, writing.now) is not None:
        return Stored(record=twin)
    if target is not None:
        return _replace(draft, entry, target, writing)
    return _create(draft, document, writing)


def living(draft: Draft, entry_id: str, now: datetime) -> Record | None:
    """Return the entry unless it is expired; an expired one makes room and goes to the archive."""
    record = draft.get(entry_id)
    if record is not None and is_expired(record.header, now):
        draft.remove(entry_id, reason="expired")
        return None
    return record


def check_version(record: Record | None, if_version: str | None, name: str) -> None:
    """Raise unless the entry is there with the version that the caller has seen."""
    if if_version is None:
        return
    if record is None:
        raise no_entry(name)
    current = record.version()
    if if_version != current:
        raise ConflictError(
            f"entry {record.header.id} has version {current}, not {if_version[:64]}:"
            " read it again and repeat the change",
            id=record.header.id,
            version=current,
        )


def check_quota(draft: Draft, writing: Writing, document: Document, before: Record | None) -> None:
    """Raise `TooLargeError` when the project would hold more than its quota."""
    endpoint = writing.endpoint
    if endpoint.max_entries and before is None and draft.count >= endpoint.max_entries:
        raise _over_quota(endpoint, "maxEntries", endpoint.max_entries, "entries")
    if not endpoint.max_megabytes:
        return
    # A store counts each line with its newline.
    grows_by = len(encode_line(document)) + 1 - (len(before.line) + 1 if before else 0)
    if grows_by > 0 and draft.total_bytes + grows_by > endpoint.max_megabytes * MEGABYTE:
        raise _over_quota(endpoint, "maxMegabytes", endpoint.max_megabytes, "megabytes")


def _made(entry: Document, local_id: str, writing: Writing) -> Document:
    return new_document(
        entry, local_id=local_id, now=writing.now, caller=writing.caller, rules=writing.rules
    )


def _create(draft: Draft, document: Document, writing: Writing) -> Stored:
    header = header_of(document)
    check_create(writing.caller.access, header)
    check_quota(draft, writing, document, None)
    similar = _similar(draft, header, writing.now)
    record = draft.put(document)
    warnings = missing_targets(draft, header, writing.rules.project)
    return Stored(record=record, created=True, similar=similar, warnings=warnings)


def _replace(draft: Draft, entry: Document, before: Record, writing: Writing) -> Stored:
    document = replaced_document(
        entry,
        before.document(),
        now=writing.now,
        caller=writing.caller,
        rules=writing.rules,
    )
    header = header_of(document)
    check_edit(writing.caller.access, before.header, header)
    check_quota(draft, writing, document, before)
    record = draft.put(document)
    warnings = missing_targets(draft, header, writing.rules.project)
    return Stored(record=record, updated=True, warnings=warnings)


def _same_title(draft: Draft, header: Header, now: datetime) -> Record | None:
    record = draft.find_by_title(header.kind, header.namespace, header.title)
    return None if record is None or is_expired(record.header, now) else record


def _similar(draft: Draft, header: Header, now: datetime) -> tuple[Similar, ...]:
    """Return entries of the same title; nothing costlier runs inside the writer."""
    namesakes = draft.same_title(header.kind, header.namespace, header.title)
    found = (record.header for record in namesakes if not is_expired(record.header, now))
    return tuple(
        Similar(id=one.id, title=one.title, score=1.0) for one in islice(found, MAX_SIMILAR)
    )


def missing_targets(draft: Draft, header: Header, project: str) -> tuple[str, ...]:
    """Return a warning when relations lead to entries of the same project that are not there.

    Targets in other projects are not looked at: the answer would tell what they hold.
    """
    missing = [
        relation.target_id
        for relation in header.relations
        if split_id(relation.target_id)[0] == project and draft.get(relation.target_id) is None
    ]
    if not missing:
        return ()
    shown = ", ".join(missing[:_SHOWN_TARGETS]) + (", …" if len(missing) > _SHOWN_TARGETS else "")
    return (f"relations: {len(missing)} of the targets are not there yet: {shown}",)


def _over_quota(endpoint: Endpoint, limit: str, maximum: int, unit: str) -> TooLargeError:
    return TooLargeError(
        f"{endpoint.slug} is full: its quota {limit} allows {maximum} {unit}",
        field="entry",
        limit=limit,
        maximum=maximum,
    )
