"""Reading the graph of entities: whole, by a text, by names; never more than the limits allow."""

from collections.abc import Callable, Iterable

from msgspec import UNSET

from qms.domain.bodies import Kind
from qms.domain.entry import Document
from qms.domain.lifecycle import is_expired
from qms.ingest.entities import is_placeholder, relation_text
from qms.service.answers import Spoken
from qms.service.calls import Call
from qms.service.requests import NoArguments
from qms.service.server_memory.shapes import (
    Entity,
    GraphAnswer,
    OpenNodesRequest,
    Relation,
    SearchNodesRequest,
    spoken,
)
from qms.store.view import Record

RELATIONS_PER_ENTITY = 10
"""An answer has at most so many relations for each entity that it may have."""


def read_graph(call: Call, _request: NoArguments) -> Spoken:
    """Return the whole graph, or the part of it that was changed last."""
    return _graph(call, _entities(call), is_whole=True)


def search_nodes(call: Call, request: SearchNodesRequest) -> Spoken:
    """Return the entities that hold a text, and their relations."""
    wanted = request.query.lower()

    def holds(entity: Entity) -> bool:
        texts = (entity.name, entity.entity_type, *entity.observations)
        return any(wanted in text.lower() for text in texts)

    return _graph(call, _entities(call), holds)


def open_nodes(call: Call, request: OpenNodesRequest) -> Spoken:
    """Return the entities of these names, and their relations."""
    names = frozenset(request.names)
    records = _entities(call)
    # Titles are at hand, while every other field has to be decoded.
    named = [record for record in records if record.header.title in names]
    return _graph(call, records, candidates=named)


def entity_of(document: Document) -> Entity:
    """Return an entry of kind `entity` as this toolset shows it."""
    body = document["body"]
    return Entity(
        name=document["title"],
        entity_type=body.get("entityType") or "",
        observations=body["observations"],
    )


def _graph(
    call: Call,
    records: list[Record],
    is_wanted: Callable[[Entity], bool] = lambda _: True,
    *,
    candidates: list[Record] | None = None,
    is_whole: bool = False,
) -> Spoken:
    """Return the wanted entities, and the relations that begin or end at one of them."""
    found: dict[str, Entity] = {}
    ends: set[str] = set()
    for record in records if candidates is None else candidates:
        document = record.document()
        if not is_placeholder(document):
            entity = entity_of(document)
            if is_wanted(entity):
                found[record.header.id] = entity
        elif is_whole:
            ends.add(record.header.id)
    limit = call.settings.global_.limits.graph_nodes
    shown = _last_changed(records, found, limit)
    relations = list(_relations(records, ends | shown))
    most = limit * RELATIONS_PER_ENTITY
    note = _note(len(found), len(shown), len(relations), most)
    answer = GraphAnswer(
        entities=[entity for entry_id, entity in found.items() if entry_id in shown],
        relations=relations[:most],
        note=note or UNSET,
    )
    return spoken(answer, answer)


def _entities(call: Call) -> list[Record]:
    """Return the living entities in the order in which they were made."""
    store = call.store
    return [
        record
        for record in store.in_file_order(store.view)
        if record.header.kind is Kind.ENTITY and not is_expired(record.header, call.now)
    ]


def _last_changed(records: list[Record], found: dict[str, Entity], limit: int) -> set[str]:
    if len(found) <= limit:
        return set(found)
    wanted = (record for record in records if record.header.id in found)
    newest = sorted(wanted, key=lambda one: (one.order, one.header.timestamps.updated_utc))
    return {record.header.id for record in newest[-limit:]}


def _relations(records: list[Record], ends: set[str]) -> Iterable[Relation]:
    names = {record.header.id: record.header.title for record in records}
    for record in records:
        for relation in record.header.relations:
            target = names.get(relation.target_id)
            if target is not None and (record.header.id in ends or relation.target_id in ends):
                yield Relation(
                    source=record.header.title,
                    target=target,
                    relation_type=relation_text(relation.type, relation.metadata),
                )


def _note(found: int, shown: int, relations: int, most: int) -> str:
    parts = []
    if shown < found:
        parts.append(f"only the {shown} entities that were changed last, of {found}")
    if relations > most:
        parts.append(f"only {most} relations, of {relations}")
    return f"{' and '.join(parts)}: look for the others with search_nodes" if parts else ""
