"""Reading and writing single entries, and importing many at once."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from qms.codec.documents import header_of, over_limit
from qms.domain.access import check_delete, check_edit
from qms.domain.bodies import MAIN_FIELDS
from qms.domain.errors import QmsError, invalid
from qms.ingest.entries import patched_document
from qms.ingest.withhold import withhold
from qms.service.answers import EntryAnswer, entry_answer
from qms.service.calls import Call, no_entry
from qms.service.contradictions import potential_contradictions
from qms.service.precedence import ENTRIES_A_STOP
from qms.service.requests import Request, Response
from qms.service.writing import (
    Similar,
    Stored,
    Writing,
    check_quota,
    check_vector,
    check_version,
    living,
    own_entry,
    upsert,
    with_whole_targets,
    writing_for,
)
from qms.store.draft import Draft
from qms.store.view import Record

SECRET = "secret"  # noqa: S105 - the code of a warning
"""What an import says of an entry that seems to hold a secret."""

_MAIN_TEXTS = " ".join(f"{kind}.{'|'.join(fields)}" for kind, fields in MAIN_FIELDS.items())
ENTRY_HINT = (
    "kind and body are required. The body's main field by kind, the only one needed: "
    f"{_MAIN_TEXTS}; a plain string as body becomes it. Optional: id title tags[] keywords[] "
    "namespace relations[{type,targetId}] source{} metadata{} priority:1-10 confidence:0-1 "
    "retention:short|mid|long ttlSeconds epicSlug epicCase"
)
"""What an agent has to know of an entry, told once in its list of tools."""

PROGRESS_ENTRIES = 100
"""An import says how far it is each time it has taken up so many entries."""


class GetRequest(Request, frozen=True):
    """Which entry."""

    id: str


class UpsertRequest(Request, frozen=True):
    """The entry, and what to do when it is there already."""

    entry: Annotated[dict[str, Any], msgspec.Meta(description=ENTRY_HINT)]
    if_version: str | None = None
    on_duplicate_title: Literal["create", "update"] = "create"


class UpsertAnswer(Response, frozen=True):
    """What became of the entry."""

    id: str
    version: str
    created: bool
    updated: bool
    duplicate_of: str | UnsetType = UNSET
    similar: tuple[Similar, ...] = ()
    contradictions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class PatchRequest(Request, frozen=True):
    """Which entry, and an RFC 7386 merge patch."""

    id: str
    patch: dict[str, Any]
    if_version: str | None = None


class DeleteRequest(Request, frozen=True):
    """Which entry; `force` for a permanent one."""

    id: str
    force: bool = False
    if_version: str | None = None


class DeleteAnswer(Response, frozen=True):
    """Whether the entry went to the archive."""

    deleted: bool


class ImportRequest(Request, frozen=True):
    """Entries to store in one commit."""

    entries: Annotated[list[Any], msgspec.Meta(description="Each as in upsertEntry")]
    dry_run: bool = False
    on_error: Literal["skip", "abort"] = "skip"


class ImportFault(Response, frozen=True):
    """Why one entry of an import was not stored, or what its writer should know of it."""

    index: int
    id: str | None
    code: str
    message: str


class ImportAnswer(Response, frozen=True):
    """How many entries took which way; the three counts add up to the entries given."""

    imported: int
    updated: int
    skipped: int
    errors: list[ImportFault]
    warnings: list[ImportFault] | UnsetType = UNSET


def get_entry(call: Call, request: GetRequest) -> EntryAnswer:
    """Return one entry as stored, with its version, and count that it was read."""
    record = call.find(request.id)
    call.touch([record.header.id])
    return entry_answer(record)


def upsert_entry(call: Call, request: UpsertRequest) -> UpsertAnswer:
    """Create an entry, or replace the one with its id or, when asked to, its title."""
    given, secrets = withhold(request.entry, call.endpoint.secrets)
    entry, writing = own_entry(given, call), writing_for(call)
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
    return _answer(stored, secrets, potential_contradictions(call, stored.record))


def patch_entry(call: Call, request: PatchRequest) -> EntryAnswer:
    """Change some fields of an entry."""
    entry_id, writing = call.own_id(request.id), writing_for(call)
    given, warnings = withhold(request.patch, call.endpoint.secrets)
    check_vector(given, call)
    patch = _spelled_like_the_configuration(given, call)

    def plan(draft: Draft) -> Record:
        before = living(draft, entry_id, writing.now)
        if before is None:
            raise no_entry(request.id)
        check_version(before, request.if_version, request.id)
        document = patched_document(patch, before.document(), now=writing.now, rules=writing.rules)
        check_edit(writing.caller.access, before.header, header_of(document))
        check_quota(draft, writing, document, before)
        return draft.put(document)

    return entry_answer(call.commit(plan), warnings)


def delete_entry(call: Call, request: DeleteRequest) -> DeleteAnswer:
    """Move an entry to the archive."""
    entry_id = call.own_id(request.id)

    def plan(draft: Draft) -> None:
        before = living(draft, entry_id, call.now)
        if before is None:
            raise no_entry(request.id)
        check_version(before, request.if_version, request.id)
        check_delete(call.caller.access, before.header, force=request.force)
        draft.remove(entry_id)

    call.commit(plan)
    return DeleteAnswer(deleted=True)


def bulk_import(call: Call, request: ImportRequest) -> ImportAnswer:
    """Store many entries in one commit."""
    limit = call.settings.global_.limits.bulk_entries
    if len(request.entries) > limit:
        raise over_limit("entries", len(request.entries), limit, "bulkEntries")
    writing = writing_for(call)

    def plan(draft: Draft) -> ImportAnswer:
        answer = _import_all(draft, request.entries, call, writing)
        if request.on_error == "abort" and answer.errors:
            raise _Undone(_nothing_stored(answer))
        if request.dry_run:
            raise _Undone(answer)
        return answer

    library = call.house.library
    library.wait_for_words(call.project)
    try:
        with library.precedence.importing():
            return call.commit(plan)
    except _Undone as undone:
        return undone.answer


class _Undone(Exception):  # noqa: N818 - not an error: the way to leave a draft without a trace
    def __init__(self, answer: ImportAnswer) -> None:
        super().__init__()
        self.answer = answer


def _import_all(draft: Draft, entries: list[Any], call: Call, writing: Writing) -> ImportAnswer:
    imported = updated = 0
    faults: list[ImportFault] = []
    noted: list[ImportFault] = []
    fresh = call.new_local_ids(len(entries))
    for index, given in enumerate(entries):
        if index % PROGRESS_ENTRIES == 0:
            call.peer.progress(index, len(entries))
        if index % ENTRIES_A_STOP == 0:
            call.house.library.precedence.give_way()
        try:
            if not isinstance(given, dict):
                raise invalid(f"entries[{index}]", "must be an object")
            kept, secrets = withhold(given, call.endpoint.secrets)
            stored = upsert(draft, own_entry(kept, call), writing, local_id=fresh[index])
        except QmsError as error:
            faults.append(_fault(index, given, error.code, error.message))
        else:
            imported += stored.created
            updated += stored.updated
            noted += (_fault(index, given, SECRET, warning) for warning in secrets)
    call.peer.progress(len(entries), len(entries))
    skipped = len(entries) - imported - updated
    return ImportAnswer(
        imported=imported, updated=updated, skipped=skipped, errors=faults, warnings=noted or UNSET
    )


def _fault(index: int, given: Any, code: str, message: str) -> ImportFault:
    entry_id = given.get("id") if isinstance(given, dict) else None
    return ImportFault(
        index=index,
        id=entry_id if isinstance(entry_id, str) else None,
        code=code,
        message=message,
    )


def _nothing_stored(answer: ImportAnswer) -> ImportAnswer:
    total = answer.imported + answer.updated + answer.skipped
    return ImportAnswer(imported=0, updated=0, skipped=total, errors=answer.errors)


def _answer(
    stored: Stored, secrets: tuple[str, ...], contradictions: tuple[str, ...]
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
        warnings=(*secrets, *stored.warnings),
    )


def _spelled_like_the_configuration(patch: dict[str, Any], call: Call) -> dict[str, Any]:
    """Return the patch with the project's slug and all ids in their one spelling."""
    spelled = with_whole_targets(patch)
    project, entry_id = patch.get("project"), patch.get("id")
    if isinstance(project, str) and project.casefold() == call.project.casefold():
        spelled["project"] = call.project
    if isinstance(entry_id, str):
        spelled["id"] = call.full_id(entry_id)
    return spelled
