"""Puts one entry into a draft: the rules that every writing command shares.

All of it runs inside the store's writer, so that versions, duplicates, rights and quotas are
checked against the writes queued before it, and not against an older view.
"""

from datetime import datetime
from itertools import islice

import msgspec

from qms.commands.call import Call, no_entry
from qms.config.settings import Endpoint
from qms.memory.access import Caller
from qms.memory.entry import Document, Header, split_id
from qms.memory.entry_aliases import sent_entry
from qms.memory.entry_input import EntryRules, new_document, replaced_document
from qms.memory.errors import ConflictError, TooLargeError, invalid
from qms.memory.ids import whole_id
from qms.memory.lines import encode_line
from qms.memory.retention import is_expired
from qms.memory.validation import header_of
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
    """The outcome of a write; neither created nor updated means that the entry was there."""

    record: Record
    created: bool = False
    updated: bool = False
    similar: tuple[Similar, ...] = ()
    warnings: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    """Values that were read as other fields, and unknown keys."""


class WriteRules(msgspec.Struct, frozen=True, kw_only=True):
    """The caller, the time and the rules of a write."""

    caller: Caller
    now: datetime
    rules: EntryRules
    endpoint: Endpoint


def write_rules(call: Call) -> WriteRules:
    """Return the rules under which a call writes."""
    return WriteRules(caller=call.caller, now=call.now, rules=call.rules, endpoint=call.endpoint)


def own_entry(given: Document, call: Call) -> Document:
    """Return a given entry with its project, also in its id, spelled as in the configuration.

    Raises:
        InvalidInputError: the entry names another project, or its vector does not fit the model.
    """
    entry = _with_own_id(given, call)
    if entry.get("embedding") != "":
        check_vector(entry, call, entry.get("id"))
    return entry


def _with_own_id(given: Document, call: Call) -> Document:
    entry = with_whole_targets(given)
    project = entry.get("project")
    if project not in (None, ""):
        if not isinstance(project, str) or project.casefold() != call.project.casefold():
            raise invalid("entry.project", f"must be {call.project}, the project of this endpoint")
        entry["project"] = call.project
    entry_id = entry.get("id")
    if entry_id in (None, ""):
        return entry
    if not isinstance(entry_id, str):
        raise invalid("entry.id", "must be text")
    entry["id"] = call.full_id(entry_id)
    if split_id(entry["id"])[0] != call.project:
        raise invalid("entry.id", f"must begin with {call.project}:, the project of this endpoint")
    return entry


def check_vector(given: Document, call: Call, entry_id: str | None) -> None:
    """Raise `InvalidInputError` when the vector of an entry or a patch does not fit the model.

    The entry's current vector is accepted: it may have been written into the file by hand.
    """
    vector = given.get("embedding")
    before = call.store.view.get(entry_id) if vector is not None and entry_id else None
    if vector is not None and (before is None or before.document().get("embedding") != vector):
        from qms.index.vectors.codes import unit_query  # numpy: after the port answers

        unit_query(vector, call.context.indexer.embedder().dimension, "embedding")


def with_whole_targets(given: Document) -> Document:
    """Return an entry or a patch with the whole id of every relation target, as in the file."""
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
    writing: WriteRules,
    *,
    local_id: str,
    if_version: str | None = None,
    by_title: bool = False,
) -> Stored:
    """Create or replace one entry, or return the stored one that equals it.

    Raises:
        QmsError: the entry is not stored, and the draft is unchanged.
    """
    before = living(draft, entry["id"], writing.now) if entry.get("id") else None
    entry, remarks = sent_entry(entry, None if before is None else before.document())
    if entry.get("id"):
        check_version(before, if_version, entry["id"])
        if before is not None:
            stored = _replace(draft, entry, before, writing)
        else:
            stored = _create(draft, _made(entry, local_id, writing), writing)
    else:
        document = _made(entry, local_id, writing)
        stored = _upsert_without_id(draft, entry, document, writing, if_version, by_title=by_title)
    return msgspec.structs.replace(stored, remarks=remarks) if remarks else stored


def _upsert_without_id(
    draft: Draft,
    entry: Document,
    document: Document,
    writing: WriteRules,
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
    """Return the entry unless it is expired; an expired one is moved to the archive."""
    draft.expire(entry_id, now)
    return draft.get(entry_id)


def check_version(record: Record | None, if_version: str | None, name: str) -> None:
    """Raise unless the entry exists with the version that the caller has seen."""
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


def check_quota(
    draft: Draft, writing: WriteRules, document: Document, before: Record | None
) -> None:
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


def _made(entry: Document, local_id: str, writing: WriteRules) -> Document:
    return new_document(
        entry, local_id=local_id, now=writing.now, caller=writing.caller, rules=writing.rules
    )


def _create(draft: Draft, document: Document, writing: WriteRules) -> Stored:
    header = header_of(document)
    check_quota(draft, writing, document, None)
    similar = _similar(draft, header, writing.now)
    record = draft.put(document)
    warnings = missing_targets(draft, header, writing.rules.project)
    return Stored(record=record, created=True, similar=similar, warnings=warnings)


def _replace(draft: Draft, entry: Document, before: Record, writing: WriteRules) -> Stored:
    known = before.document()
    document = replaced_document(
        entry,
        known,
        shown=draft.shown(before),
        now=writing.now,
        caller=writing.caller,
        rules=writing.rules,
    )
    if document is known:
        return Stored(record=before)
    check_quota(draft, writing, document, before)
    record = draft.put(document)
    warnings = missing_targets(draft, record.header, writing.rules.project)
    return Stored(record=record, updated=True, warnings=warnings)


def _same_title(draft: Draft, header: Header, now: datetime) -> Record | None:
    record = draft.find_by_title(header.kind, header.namespace, header.title)
    return None if record is None or is_expired(record.header, now) else record


def _similar(draft: Draft, header: Header, now: datetime) -> tuple[Similar, ...]:
    """Return entries with the same title; a costlier comparison does not run in the writer."""
    namesakes = draft.same_title(header.kind, header.namespace, header.title)
    found = (record.header for record in namesakes if not is_expired(record.header, now))
    return tuple(
        Similar(id=one.id, title=one.title, score=1.0) for one in islice(found, MAX_SIMILAR)
    )


def missing_targets(draft: Draft, header: Header, project: str) -> tuple[str, ...]:
    """Return a warning when targets of relations do not exist in the same project.

    Targets in other projects are not checked: the answer would reveal their contents.
    """
    missing = [
        relation.target_id
        for relation in header.relations
        if split_id(relation.target_id)[0] == project and draft.get(relation.target_id) is None
    ]
    if not missing:
        return ()
    shown = ", ".join(missing[:_SHOWN_TARGETS]) + (", …" if len(missing) > _SHOWN_TARGETS else "")
    return (f"relations: {len(missing)} of the targets do not exist yet: {shown}",)


def _over_quota(endpoint: Endpoint, limit: str, maximum: int, unit: str) -> TooLargeError:
    return TooLargeError(
        f"{endpoint.slug} is full: its quota {limit} allows {maximum} {unit}",
        field="entry",
        limit=limit,
        maximum=maximum,
    )
