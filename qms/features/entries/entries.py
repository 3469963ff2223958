"""Reading and writing single entries, and importing many at once."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from qms.commands.answers import EntryAnswer, entry_answer
from qms.commands.call import Call, no_entry
from qms.commands.command import EXAMPLE_ID, command
from qms.commands.entry_writes import (
    Similar,
    Stored,
    WriteRules,
    check_quota,
    check_vector,
    check_version,
    living,
    own_entry,
    upsert,
    with_whole_targets,
    write_rules,
)
from qms.commands.requests import Conditions, Request, Response
from qms.commands.secrets_policy import withhold
from qms.features.entries.contradicted import potential_contradictions
from qms.index.priority import ENTRIES_A_STOP
from qms.memory.access import AccessTier
from qms.memory.bodies import MAIN_FIELDS
from qms.memory.entry import Document
from qms.memory.entry_aliases import entry_in_known_forms, sent_patch
from qms.memory.entry_input import patched_document
from qms.memory.errors import QmsError, invalid
from qms.memory.limits import limited_by
from qms.store.draft import Draft
from qms.store.view import Record

SECRET = "secret"  # noqa: S105 - the code of a warning
"""The code of an import warning for an entry that seems to hold a secret."""

NOTICE = "notice"
"""The code of an import warning for values read as other fields, and for unknown keys."""

_MAIN_TEXTS = " ".join(f"{kind}.{'|'.join(fields)}" for kind, fields in MAIN_FIELDS.items())
ENTRY_HINT = (
    "kind and body are required. Main field of the body by kind: "
    f"{_MAIN_TEXTS}; a plain string as body becomes it. Optional: id title tags[] keywords[] "
    "namespace relations[{type,targetId}] source{} metadata{} priority:1-10 confidence:0-1 "
    "retention:short|mid|long ttlSeconds epicSlug epicCase"
)
"""The description of an entry for agents, once in the list of tools."""

PROGRESS_ENTRIES = 100
"""An import reports progress after every 100 entries."""


class GetRequest(Request, frozen=True):
    """The entry to read."""

    id: Annotated[str, msgspec.Meta(description="As a list or search gave it")]


class UpsertRequest(Request, frozen=True):
    """The entry, and what to do with an entry of the same title."""

    entry: Annotated[dict[str, Any], msgspec.Meta(description=ENTRY_HINT)]
    if_version: str | None = None
    on_duplicate_title: Literal["create", "update"] = "create"


class UpsertAnswer(Response, frozen=True):
    """The outcome of the write."""

    id: str
    version: str
    created: bool
    updated: bool
    duplicate_of: str | UnsetType = UNSET
    similar: tuple[Similar, ...] = ()
    contradictions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class PatchRequest(Request, frozen=True):
    """The entry to change, and an RFC 7386 merge patch."""

    id: str
    patch: dict[str, Any]
    if_version: str | None = None


class DeleteRequest(Conditions, frozen=True):
    """The entry to delete; `force` for a permanent one."""

    id: Annotated[str, msgspec.Meta(description="Exactly one")]
    force: Annotated[bool, msgspec.Meta(description="If permanent")] = False
    if_version: Annotated[str | None, msgspec.Meta(description="Version you read")] = None


class DeleteAnswer(Response, frozen=True):
    """Whether the entry went to the archive."""

    deleted: bool


class ImportRequest(Request, frozen=True):
    """Entries to store in one commit."""

    entries: Annotated[
        list[Any], msgspec.Meta(description="Each as in upsertEntry"), limited_by("bulkEntries")
    ]
    dry_run: bool = False
    on_error: Literal["skip", "abort"] = "skip"


class ImportFault(Response, frozen=True):
    """The error or the warning of one entry of an import."""

    index: int | None
    """Its position in the request; null for a remark on the whole request."""
    id: str | None
    code: str
    message: str


class ImportAnswer(Response, frozen=True):
    """The numbers of imported, updated and skipped entries, which add up to those given."""

    imported: int
    updated: int
    skipped: int
    errors: list[ImportFault]
    warnings: list[ImportFault] | UnsetType = UNSET

    def remark(self, text: str) -> ImportFault:
        """Return a remark on the request in the form of the other warnings."""
        return ImportFault(index=None, id=None, code=NOTICE, message=text)


@command(
    tier=AccessTier.READER,
    toolset="core",
    also=("lite",),
    help="Read one memory whole, with its version. Use it when recall cut its text",
    example={"id": EXAMPLE_ID},
    read_only=True,
    idempotent=True,
    inline=True,
    brief=True,
)
def get_entry(call: Call, request: GetRequest) -> EntryAnswer:
    """Return one entry as stored, with its version, and count the read."""
    record = call.find(request.id)
    call.touch([record.header.id])
    return entry_answer(call.visible(record))


@command(
    tier=AccessTier.WRITER,
    toolset="core",
    help="Store a whole entry, a duplicate once. Use it for fields that remember lacks",
    example={"entry": {"kind": "fact", "body": "The index is rebuilt at night"}},
    destructive=True,
    idempotent=True,
    brief=True,
)
def upsert_entry(call: Call, request: UpsertRequest) -> UpsertAnswer:
    """Create an entry, or replace the one with its id or, if requested, its title."""
    sent, formed = entry_in_known_forms(request.entry)
    known = _stored(call, sent)
    given, secrets = withhold(sent, call.endpoint.secrets, call.rules.limits, known=known)
    entry, writing = own_entry(given, call), write_rules(call)
    local_id = call.new_local_id()
    stored = call.commit(
        lambda draft: upsert(
            draft,
            entry,
            writing,
            local_id=local_id,
            if_version=request.if_version,
            by_title=request.on_duplicate_title == "update",
        )
    )
    return _answer(stored, (*formed, *secrets), potential_contradictions(call, stored.record))


@command(
    tier=AccessTier.WRITER,
    toolset="core",
    help="Change some fields by an RFC 7386 merge patch. Use it to correct; null removes",
    example={"id": EXAMPLE_ID, "patch": {"tags": ["search", "nightly"]}},
    destructive=True,
    idempotent=True,
    brief=True,
)
def patch_entry(call: Call, request: PatchRequest) -> EntryAnswer:
    """Change some fields of an entry."""
    entry_id, writing = call.own_id(request.id), write_rules(call)
    given, secrets = withhold(request.patch, call.endpoint.secrets, call.rules.limits)
    check_vector(given, call, entry_id)
    spelled = _with_canonical_ids(given, call)

    def plan(draft: Draft) -> tuple[Record, tuple[str, ...]]:
        before = living(draft, entry_id, writing.now)
        if before is None:
            raise no_entry(request.id)
        check_version(before, request.if_version, request.id)
        known = before.document()
        patch, remarks = sent_patch(spelled, known)
        document = patched_document(patch, known, now=writing.now, rules=writing.rules)
        check_quota(draft, writing, document, before)
        return draft.put(document), remarks

    record, remarks = call.commit(plan)
    return entry_answer(call.visible(record), (*secrets, *remarks))


@command(
    tier=AccessTier.WRITER,
    toolset="core",
    also=("lite",),
    help="Archive one memory. Use it for what is wrong; correct with remember and id",
    example={"id": EXAMPLE_ID},
    destructive=True,
    brief=True,
)
def delete_entry(call: Call, request: DeleteRequest) -> DeleteAnswer:
    """Move an entry to the archive."""
    entry_id = call.own_id(request.id)

    def plan(draft: Draft) -> None:
        before = living(draft, entry_id, call.now)
        if before is None:
            raise no_entry(request.id)
        check_version(before, request.if_version, request.id)
        draft.remove(entry_id, force=request.force)

    call.commit(plan)
    return DeleteAnswer(deleted=True)


@command(
    tier=AccessTier.WRITER,
    toolset="core",
    help="Store many entries in one commit. Use it for imports, first with dryRun",
    example={"entries": [{"kind": "note", "body": "First"}], "onError": "abort"},
    destructive=True,
    idempotent=True,
    after="relatedEntries",
)
def bulk_import(call: Call, request: ImportRequest) -> ImportAnswer:
    """Store many entries in one commit."""
    writing = write_rules(call)

    def plan(draft: Draft) -> ImportAnswer:
        answer = _import_all(draft, request.entries, call, writing)
        if request.on_error == "abort" and answer.errors:
            raise _Undone(_nothing_stored(answer))
        return answer

    try:
        if request.dry_run:
            return call.attempt(plan)
        with call.context.indexer.priority.importing():
            return call.commit(plan)
    except _Undone as undone:
        return undone.answer


class _Undone(Exception):  # noqa: N818 - not an error: discards the draft and returns the answer
    def __init__(self, answer: ImportAnswer) -> None:
        super().__init__()
        self.answer = answer


def _import_all(draft: Draft, entries: list[Any], call: Call, writing: WriteRules) -> ImportAnswer:
    imported = updated = 0
    faults: list[ImportFault] = []
    noted: list[ImportFault] = []
    remarks: dict[str, list[int]] = {}
    fresh = call.new_local_ids(len(entries))
    for index, given in enumerate(entries):
        if index % PROGRESS_ENTRIES == 0:
            call.progress.progress(index, len(entries))
        if index % ENTRIES_A_STOP == 0:
            call.context.indexer.priority.give_way()
        try:
            if not isinstance(given, dict):
                raise invalid(f"entries[{index}]", "must be an object")
            sent, formed = entry_in_known_forms(given)
            kept, secrets = withhold(
                sent, call.endpoint.secrets, call.rules.limits, known=_stored(call, sent)
            )
            stored = upsert(draft, own_entry(kept, call), writing, local_id=fresh[index])
        except QmsError as error:
            faults.append(_fault(index, given, error.code, error.message))
        else:
            imported += stored.created
            updated += stored.updated
            noted += (_fault(index, given, SECRET, warning) for warning in secrets)
            for remark in (*formed, *stored.remarks):
                remarks.setdefault(remark, []).append(index)
    noted += (_notice(remark, found, entries) for remark, found in remarks.items())
    call.progress.progress(len(entries), len(entries))
    skipped = len(entries) - imported - updated
    return ImportAnswer(
        imported=imported, updated=updated, skipped=skipped, errors=faults, warnings=noted or UNSET
    )


def _stored(call: Call, given: Document) -> Document | None:
    """Return the entry that would be replaced, if any: its texts may exceed today's limits."""
    entry_id = given.get("id")
    record = call.store.view.get(call.full_id(entry_id)) if isinstance(entry_id, str) else None
    return record.document() if record is not None else None


def _fault(index: int, given: Any, code: str, message: str) -> ImportFault:
    entry_id = given.get("id") if isinstance(given, dict) else None
    return ImportFault(
        index=index,
        id=entry_id if isinstance(entry_id, str) else None,
        code=code,
        message=message,
    )


def _notice(remark: str, found: list[int], entries: list[Any]) -> ImportFault:
    """Return a remark on the first entry that it applies to, with the number of others."""
    others = f" (and {len(found) - 1} other entries)" if len(found) > 1 else ""
    return _fault(found[0], entries[found[0]], NOTICE, remark + others)


def _nothing_stored(answer: ImportAnswer) -> ImportAnswer:
    total = answer.imported + answer.updated + answer.skipped
    return ImportAnswer(imported=0, updated=0, skipped=total, errors=answer.errors)


def _answer(
    stored: Stored, remarks: tuple[str, ...], contradictions: tuple[str, ...]
) -> UpsertAnswer:
    entry_id = stored.record.header.id
    is_duplicate = not (stored.created or stored.updated)
    return UpsertAnswer(
        id=entry_id,
        version=stored.record.version(),
        created=stored.created,
        updated=stored.updated,
        duplicate_of=entry_id if is_duplicate else UNSET,
        similar=stored.similar,
        contradictions=contradictions,
        warnings=(*remarks, *stored.remarks, *stored.warnings),
    )


def _with_canonical_ids(patch: dict[str, Any], call: Call) -> dict[str, Any]:
    """Return the patch with the project's slug and all ids in their canonical spelling."""
    spelled = with_whole_targets(patch)
    project, entry_id = patch.get("project"), patch.get("id")
    if isinstance(project, str) and project.casefold() == call.project.casefold():
        spelled["project"] = call.project
    if isinstance(entry_id, str):
        spelled["id"] = call.full_id(entry_id)
    return spelled
