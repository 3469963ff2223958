"""moveEntry and copyEntry: move or copy an entry to another store that the caller may write.

Two stores cannot change atomically. A move makes its intent durable, puts the entry into the
target, removes it from the source, and removes the intent. After a crash `finish_moves` completes
the move if the target has the entry, else drops it. An entry is always in at least one store.
"""

import logging
from datetime import datetime

import msgspec
from msgspec import UNSET, UnsetType

from qms.commands.call import Call
from qms.commands.command import EXAMPLE_ID, command
from qms.commands.entry_writes import WriteRules, check_quota, check_version, living
from qms.commands.requests import Request, Response
from qms.commands.secrets_policy import withhold
from qms.config.settings import Endpoint, Settings
from qms.features.transfer.moves_file import Move, Moves
from qms.memory.access import AccessTier, Caller, check_delete, may_edit
from qms.memory.entry import Document, split_id
from qms.memory.entry_input import EntryRules, keep_guarded
from qms.memory.errors import (
    ConflictError,
    NotAllowedError,
    NotFoundError,
    QmsError,
    StorageFullError,
    UnavailableError,
    invalid,
)
from qms.memory.parts import document_id_of
from qms.memory.validation import check, normalise
from qms.memory.visibility import COPIED_FROM, MOVED_FROM, SHOWS_ALL, Visibility
from qms.store.catalog import Catalog
from qms.store.draft import Draft
from qms.store.memory_store import MemoryStore
from qms.store.options import Origin
from qms.store.view import Record

REASON = "moved"
ATTEMPTS = 5
"""How often a move is tried in all, if the entry changes while it is moved."""

log = logging.getLogger(__name__)


class TransferRequest(Request, frozen=True):
    """The entry, the target project, and its id there; the same local id by default."""

    id: str
    to_project: str
    to_id: str | None = None
    if_version: str | None = None


class TransferAnswer(Response, frozen=True):
    """The entry in the other project."""

    id: str
    version: str
    warnings: tuple[str, ...] | UnsetType = UNSET


class Placed(msgspec.Struct, frozen=True):
    """An entry in the target, and whether it is new there."""

    record: Record
    created: bool
    warnings: tuple[str, ...]


class Carrier(msgspec.Struct, frozen=True, kw_only=True):
    """Moves or copies an entry from one store to another."""

    source: MemoryStore
    target: MemoryStore
    endpoint: Endpoint
    writing: WriteRules
    """The rules in the target; the caller may have another tier there."""
    origin: Origin
    """The origin of the change in the source."""
    visibility: Visibility
    """A copy holds only the visible parts, and a replaced entry keeps its hidden ones."""

    def place(self, record: Record, new_id: str, mark: str) -> Placed:
        """Put an entry of the source into the target, unless the same entry is there.

        Raises:
            ConflictError: another entry has the id.
            NotAllowedError: the caller may not edit the entry in the target.
        """
        carried, warnings = self._carried(record, new_id, mark)

        def plan(draft: Draft) -> Placed:
            before = living(draft, new_id, self.writing.now)
            document = carried
            if before is not None:
                document = self._replacing(before, record, carried, mark)
            document = draft.written_by(self.visibility).with_hidden(document, before)
            if before is not None and before.document() == document:
                return Placed(before, created=False, warnings=warnings)
            check_quota(draft, self.writing, document, before)
            return Placed(draft.put(document), created=before is None, warnings=warnings)

        return self.target.commit(self._target_origin, plan)

    def take_out(self, record: Record, new_id: str) -> bool:
        """Remove an entry from the source unless it has changed, and redirect relations to it."""
        entry_id = record.header.id
        sources = list(self.source.view.incoming.get(entry_id, ()))

        def plan(draft: Draft) -> bool:
            current = draft.get(entry_id)
            if current is None:
                return True
            if current.line != record.line:
                return False
            draft.remove(entry_id, reason=REASON)
            for other in filter(None, map(draft.get, sources)):
                if may_edit(draft.right, other.header):
                    document = other.document()
                    relations = _redirected(document, entry_id, new_id)
                    changed = normalise({**document, "relations": relations}, like=document)
                    draft.put(changed, is_newer=False)
            return True

        return self.source.commit(self.origin, plan)

    def take_back(self, placed: Record) -> None:
        """Remove an entry from the target again, if it could not be removed from the source."""

        def plan(draft: Draft) -> None:
            current = draft.get(placed.header.id)
            if current is not None and current.line == placed.line:
                draft.remove(placed.header.id, REASON, keep=False, force=True)

        self.target.commit(self._target_origin, plan)

    @property
    def _target_origin(self) -> Origin:
        return msgspec.structs.replace(self.origin, right=self.writing.caller.access)

    def _replacing(self, before: Record, source: Record, carried: Document, mark: str) -> Document:
        """Return the document that replaces an entry which came from the source earlier."""
        if not came_from(before, source, mark):
            taken = before.header.id
            raise ConflictError(f"entry {taken} exists: pass another toId", id=taken)
        document, there = dict(carried), before.document()
        keep_guarded(document, there)
        return normalise(document, like=there)

    def _carried(self, record: Record, new_id: str, mark: str) -> tuple[Document, tuple[str, ...]]:
        stored = record.document()
        before = self.visibility.shown(stored) if mark == COPIED_FROM else stored
        metadata = {**before.get("metadata", {}), mark: record.header.id}
        document = {**before, "id": new_id, "metadata": metadata}
        document.pop("project", None)
        if "relations" in before:
            relations = before["relations"]
            document["relations"] = [one for one in relations if one["targetId"] != new_id]
        document, warnings = withhold(document, self.endpoint.secrets, self.writing.rules.limits)
        check(document, self.writing.rules.project, self.writing.rules.limits)
        return normalise(document, like=before), warnings


@command(
    tier=AccessTier.WRITER,
    toolset="lifecycle",
    help="Bring an entry into another project that you may write",
    example={"id": EXAMPLE_ID, "toProject": "projB"},
    destructive=True,
    brief=True,
)
def move_entry(call: Call, request: TransferRequest) -> TransferAnswer:
    """Move an entry to another project; redirect relations in entries that the caller may edit."""
    carrier, new_id = _carrier(call, request)
    record = call.find(request.id)
    _check_parts(call, record)
    check_version(record, request.if_version, request.id)
    check_delete(call.caller.access, record.header, force=True)
    if record.header.is_permanent:
        raise ConflictError(
            f"entry {record.header.id} is permanent and cannot be moved: use copyEntry",
            id=record.header.id,
            field="id",
        )
    move = Move(
        source_id=record.header.id,
        target_id=new_id,
        user=call.caller.user,
        access=call.caller.access.label,
        target_access=carrier.writing.caller.access.label,
        at_utc=call.now,
        agent_id=call.caller.agent_id,
        key_id=call.caller.key_id,
    )
    try:
        with carrier.source.features.get(Moves).under_way(move):
            return _moved(carrier, move, record)
    except OSError as error:
        raise StorageFullError(
            f"the move cannot be recorded now: {error.strerror}", project=call.project
        ) from error


@command(
    tier=AccessTier.WRITER,
    toolset="lifecycle",
    help="Copy an entry into another project that you may write",
    example={"id": EXAMPLE_ID, "toProject": "projB"},
    idempotent=True,
    brief=True,
)
def copy_entry(call: Call, request: TransferRequest) -> TransferAnswer:
    """Copy an entry to another project, or return the copy that is there."""
    carrier, new_id = _carrier(call, request)
    record = call.find(request.id)
    _check_parts(call, record)
    check_version(record, request.if_version, request.id)
    return _answer(carrier.place(record, new_id, COPIED_FROM))


def _check_parts(call: Call, record: Record) -> None:
    """Raise `InvalidInputError` for a chunk, and for a document that has chunks."""
    owner = document_id_of(record.header)
    parts = call.store_of(split_id(record.header.id)[0]).view.parts_of(record.header.id)
    if owner is not None or parts:
        reason = "a document with chunks is stored in the other project with storeDocument instead"
        raise invalid("id", reason)


def finish_moves(store: MemoryStore, catalog: Catalog, settings: Settings) -> None:
    """Finish moves out of a store that a crash or a full disk interrupted.

    Raises:
        QmsError: a store cannot be read or written now; the intents stay.
    """
    for move in store.features.get(Moves).left_over():
        endpoint = settings.find_endpoint(split_id(move.target_id)[0])
        if endpoint is None:
            log.warning("move target removed", extra={"project": store.project})
            continue
        carrier = _carrier_after_crash(store, catalog.get(endpoint.slug), endpoint, move, settings)
        record, there = store.view.get(move.source_id), carrier.target.view.get(move.target_id)
        if record is None or there is None or not came_from(there, record, MOVED_FROM):
            store.features.get(Moves).end(move)  # finished, or never begun
            continue
        try:
            with store.features.get(Moves).under_way(move):
                _moved(carrier, move, record, is_placed=True)
        except (StorageFullError, UnavailableError):
            raise
        except QmsError as error:
            # The entry stays in both projects: it was changed since in one of them.
            log.warning("move abandoned", extra={"project": store.project, "reason": error.message})
        else:
            log.info("move finished", extra={"project": store.project})


def came_from(record: Record, source: Record, mark: str) -> bool:
    """Say whether an entry is the moved or copied version of a source."""
    metadata = record.document().get("metadata", {})
    is_marked = metadata.get(mark) == source.header.id
    created = source.header.timestamps.created_utc
    return is_marked and record.header.timestamps.created_utc == created


def _moved(
    carrier: Carrier, move: Move, record: Record, *, is_placed: bool = False
) -> TransferAnswer:
    """Make or finish a move; `is_placed` when the target has the entry already.

    Each attempt is checked again in both stores: the caller's rights to the entry may have changed.
    """
    moves = carrier.source.features.get(Moves)
    current: Record | None = record
    made: Record | None = None
    try:
        for _ in range(ATTEMPTS):
            if current is None:
                break
            placed = carrier.place(current, move.target_id, MOVED_FROM)
            is_placed = True
            if placed.created or made is not None:
                made = placed.record
            if carrier.take_out(current, move.target_id):
                moves.end(move)
                return _answer(placed)
            current = carrier.source.view.get(move.source_id)
        raise ConflictError(
            f"{move.source_id} changed while it was moved: try again", id=move.source_id
        )
    except (StorageFullError, UnavailableError):
        if not is_placed:
            moves.end(move)
        raise  # `finish_moves` does the rest when the store can be written again
    except QmsError:
        if made is not None:
            carrier.take_back(made)
        moves.end(move)
        raise


def _answer(placed: Placed) -> TransferAnswer:
    record = placed.record
    return TransferAnswer(
        id=record.header.id, version=record.version(), warnings=placed.warnings or UNSET
    )


def _carrier(call: Call, request: TransferRequest) -> tuple[Carrier, str]:
    endpoint, access = _target(call, request.to_project)
    source_id = call.own_id(request.id)
    local = split_id(source_id)[1] if request.to_id is None else _local(request.to_id, endpoint)
    carrier = Carrier(
        source=call.store,
        target=call.context.catalog.get(endpoint.slug),
        endpoint=endpoint,
        writing=_writing(
            msgspec.structs.replace(call.caller, access=access), endpoint, call.settings, call.now
        ),
        origin=call.origin,
        visibility=call.visibility,
    )
    return carrier, f"{endpoint.slug}:{local}"


def _carrier_after_crash(
    store: MemoryStore, target: MemoryStore, endpoint: Endpoint, move: Move, settings: Settings
) -> Carrier:
    caller = Caller(user=move.user, access=AccessTier.from_label(move.target_access))
    origin = Origin(
        command="moveEntry",
        user=move.user,
        at_utc=move.at_utc,
        right=AccessTier.from_label(move.access),
        agent_id=move.agent_id,
        key_id=move.key_id,
    )
    return Carrier(
        source=store,
        target=target,
        endpoint=endpoint,
        writing=_writing(caller, endpoint, settings, move.at_utc),
        origin=origin,
        visibility=SHOWS_ALL,
    )


def _writing(caller: Caller, endpoint: Endpoint, settings: Settings, now: datetime) -> WriteRules:
    values = settings.global_
    rules = EntryRules(project=endpoint.slug, limits=values.limits, lengths=values.retention)
    return WriteRules(caller=caller, now=now, rules=rules, endpoint=endpoint)


def _target(call: Call, slug: str) -> tuple[Endpoint, AccessTier]:
    """Return the target project; a closed one counts as absent."""
    endpoint, access = call.admission.rights.find(slug)
    if endpoint is None or access < AccessTier.READER:
        raise NotFoundError("there is no such project, or this key does not open it")
    if endpoint == call.endpoint:
        raise invalid(
            "toProject", f"must be another project than {endpoint.slug}, where the entry is"
        )
    if access < AccessTier.WRITER:
        raise NotAllowedError(
            f"{endpoint.slug} needs tier writer; this key has {access.label} there",
            needs=AccessTier.WRITER.label,
            has=access.label,
        )
    return endpoint, access


def _local(given: str, endpoint: Endpoint) -> str:
    project, local = split_id(given)
    if project and project.casefold() != endpoint.slug.casefold():
        raise invalid("toId", f"must begin with {endpoint.slug}:")
    return local


def _redirected(document: Document, old_id: str, new_id: str) -> list[Document]:
    return [
        {**one, "targetId": new_id} if one["targetId"] == old_id else one
        for one in document.get("relations", [])
    ]
