"""moveEntry and copyEntry: from one store to another that the caller may write.

Two stores cannot change in one moment. A move makes its intent durable, puts the entry into the
target, takes it out of the source, and forgets the intent; `finish_moves` does what is left after
a crash: the rest, if the target has the entry, else nothing. Never is an entry in neither store.
"""

import logging
from datetime import datetime

import msgspec
from msgspec import UNSET, UnsetType

from qms.codec.documents import check, header_of, normalise
from qms.config.settings import Endpoint, Settings
from qms.domain.access import AccessTier, Caller, check_create, check_delete, may_edit
from qms.domain.entry import Document, split_id
from qms.domain.errors import (
    ConflictError,
    NotAllowedError,
    NotFoundError,
    QmsError,
    StorageFullError,
    invalid,
)
from qms.files.moves import Move
from qms.ingest.entries import EntryRules
from qms.ingest.withhold import withhold
from qms.service.calls import Call
from qms.service.requests import Request, Response
from qms.service.writing import Writing, check_quota, check_version, living
from qms.store.catalog import Catalog
from qms.store.draft import Draft
from qms.store.memory_store import MemoryStore
from qms.store.options import Origin
from qms.store.view import Record

REASON = "moved"
MOVED_FROM, COPIED_FROM = "movedFrom", "copiedFrom"
"""The keys of the metadata that say where an entry was before."""

ATTEMPTS = 5
"""How often an entry that somebody changes meanwhile is carried over anew."""

log = logging.getLogger(__name__)


class TransferRequest(Request, frozen=True):
    """Which entry, to which project, and under which id there; the same local one if none."""

    id: str
    to_project: str
    to_id: str | None = None
    if_version: str | None = None


class TransferAnswer(Response, frozen=True):
    """The entry in the other project."""

    id: str
    version: str
    warnings: tuple[str, ...] | UnsetType = UNSET


class Carrier(msgspec.Struct, frozen=True, kw_only=True):
    """Two stores, and what it takes to bring an entry from one to the other."""

    source: MemoryStore
    target: MemoryStore
    endpoint: Endpoint
    writing: Writing
    origin: Origin
    access: AccessTier
    """What the caller may do in the source."""

    def place(self, record: Record, new_id: str, mark: str) -> tuple[Record, tuple[str, ...]]:
        """Put an entry of the source into the target, or find that it is there.

        Raises:
            ConflictError: another entry has the id.
        """
        document, warnings = self._carried(record, new_id, mark)

        def plan(draft: Draft) -> Record:
            before = living(draft, new_id, self.writing.now)
            if before is not None and not came_from(before, record, mark):
                raise ConflictError(f"{new_id} is there already: pass another toId", id=new_id)
            if before is not None and before.document() == document:
                return before
            check_create(self.writing.caller.access, header_of(document))
            check_quota(draft, self.writing, document, before)
            return draft.put(document)

        return self.target.commit(self.origin, plan), warnings

    def take_out(self, record: Record, new_id: str) -> bool:
        """Take an entry out of the source unless it has changed, and lead relations after it."""
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
                if may_edit(self.access, other.header):
                    document = other.document()
                    led = {**document, "relations": _led(document, entry_id, new_id)}
                    draft.put(normalise(led, like=document), is_newer=False)
            return True

        return self.source.commit(self.origin, plan)

    def take_back(self, new_id: str) -> None:
        """Take out of the target again what could not be taken out of the source."""
        self.target.commit(self.origin, lambda draft: draft.remove(new_id, REASON, keep=False))

    def _carried(self, record: Record, new_id: str, mark: str) -> tuple[Document, tuple[str, ...]]:
        before = record.document()
        metadata = {**before.get("metadata", {}), mark: record.header.id}
        document = {**before, "id": new_id, "metadata": metadata}
        document.pop("project", None)
        if "relations" in before:
            relations = before["relations"]
            document["relations"] = [one for one in relations if one["targetId"] != new_id]
        document, warnings = withhold(document, self.endpoint.secrets)
        check(document, self.writing.rules.project, self.writing.rules.limits)
        return normalise(document, like=before), warnings


def move_entry(call: Call, request: TransferRequest) -> TransferAnswer:
    """Bring an entry into another project; relations to it follow where the caller may edit."""
    carrier, new_id = _carrier(call, request)
    record = call.find(request.id)
    check_version(record, request.if_version, request.id)
    check_delete(call.caller.access, record.header, force=False)
    move = Move(
        source_id=record.header.id,
        target_id=new_id,
        user=call.caller.user,
        access=call.caller.access.label,
        at_utc=call.now,
        agent_id=call.caller.agent_id,
        key_id=call.caller.key_id,
    )
    try:
        with carrier.source.moves.under_way(move):
            return _moved(carrier, move, record)
    except OSError as error:
        raise StorageFullError(
            f"the move cannot be noted now: {error.strerror}", project=call.project
        ) from error


def copy_entry(call: Call, request: TransferRequest) -> TransferAnswer:
    """Put a copy of an entry into another project; a copy that is there already is answered."""
    carrier, new_id = _carrier(call, request)
    record = call.find(request.id)
    check_version(record, request.if_version, request.id)
    made, warnings = carrier.place(record, new_id, COPIED_FROM)
    return TransferAnswer(id=new_id, version=made.version(), warnings=warnings or UNSET)


def finish_moves(store: MemoryStore, catalog: Catalog, settings: Settings) -> None:
    """Finish what a crash, or a disk that was full, has left of moves out of a store.

    Raises:
        QmsError: a store cannot be read or written now; what is left stays noted.
    """
    for move in store.moves.left_over():
        endpoint = settings.find_endpoint(split_id(move.target_id)[0])
        if endpoint is None:
            log.warning("move to a project that is gone", extra={"project": store.project})
            continue
        carrier = _carrier_after_crash(store, catalog.get(endpoint.slug), endpoint, move, settings)
        record, there = store.view.get(move.source_id), carrier.target.view.get(move.target_id)
        if record is None or there is None or not came_from(there, record, MOVED_FROM):
            store.moves.end(move)  # finished, or never begun
            continue
        with store.moves.under_way(move):
            _moved(carrier, move, record, is_placed=True)
        log.info("move finished", extra={"project": store.project})


def came_from(record: Record, source: Record, mark: str) -> bool:
    """Say whether an entry is what a source became in another store."""
    metadata = record.document().get("metadata", {})
    is_marked = metadata.get(mark) == source.header.id
    created = source.header.timestamps.created_utc
    return is_marked and record.header.timestamps.created_utc == created


def _moved(
    carrier: Carrier, move: Move, record: Record, *, is_placed: bool = False
) -> TransferAnswer:
    """Do what is left of a move; `is_placed` when the target has the entry already."""
    moves = carrier.source.moves
    current: Record | None = record
    for _ in range(ATTEMPTS):
        if current is None:
            break
        try:
            made, warnings = carrier.place(current, move.target_id, MOVED_FROM)
        except QmsError:
            if not is_placed:
                moves.end(move)
            raise
        is_placed = True
        if carrier.take_out(current, move.target_id):
            moves.end(move)
            version = made.version()
            return TransferAnswer(id=move.target_id, version=version, warnings=warnings or UNSET)
        current = carrier.source.view.get(move.source_id)
    carrier.take_back(move.target_id)
    moves.end(move)
    raise ConflictError(
        f"{move.source_id} changes faster than it can be moved: try again", id=move.source_id
    )


def _carrier(call: Call, request: TransferRequest) -> tuple[Carrier, str]:
    endpoint, access = _target(call, request.to_project)
    source_id = call.own_id(request.id)
    local = split_id(source_id)[1] if request.to_id is None else _local(request.to_id, endpoint)
    carrier = Carrier(
        source=call.store,
        target=call.house.catalog.get(endpoint.slug),
        endpoint=endpoint,
        writing=_writing(
            msgspec.structs.replace(call.caller, access=access), endpoint, call.settings, call.now
        ),
        origin=call.origin,
        access=call.caller.access,
    )
    return carrier, f"{endpoint.slug}:{local}"


def _carrier_after_crash(
    store: MemoryStore, target: MemoryStore, endpoint: Endpoint, move: Move, settings: Settings
) -> Carrier:
    # Who began it was allowed to then; what is there by now must not stay in two places.
    caller = Caller(user=move.user, access=AccessTier.ADMIN)
    origin = Origin(
        command="moveEntry",
        user=move.user,
        at_utc=move.at_utc,
        agent_id=move.agent_id,
        key_id=move.key_id,
    )
    return Carrier(
        source=store,
        target=target,
        endpoint=endpoint,
        writing=_writing(caller, endpoint, settings, move.at_utc),
        origin=origin,
        access=AccessTier.from_label(move.access),
    )


def _writing(caller: Caller, endpoint: Endpoint, settings: Settings, now: datetime) -> Writing:
    values = settings.global_
    rules = EntryRules(project=endpoint.slug, limits=values.limits, lengths=values.retention)
    return Writing(caller=caller, now=now, rules=rules, endpoint=endpoint)


def _target(call: Call, slug: str) -> tuple[Endpoint, AccessTier]:
    """Return the other project; a closed one is an absent one."""
    endpoint = call.settings.find_endpoint(slug)
    access = call.access_to(endpoint.slug) if endpoint is not None else AccessTier.NONE
    if endpoint is None or access < AccessTier.READER:
        raise NotFoundError("there is no such project, or this key does not open it")
    if endpoint == call.endpoint:
        raise invalid("toProject", f"is {endpoint.slug}, where the entry is")
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
        raise invalid("toId", f"does not begin with {endpoint.slug}:")
    return local


def _led(document: Document, old_id: str, new_id: str) -> list[Document]:
    return [
        {**one, "targetId": new_id} if one["targetId"] == old_id else one
        for one in document.get("relations", [])
    ]
