"""Reads the graph of entities: the whole graph, by a text or by names, within the limits."""

from collections.abc import Callable, Iterable

from msgspec import UNSET

from qms.commands.answers import Spoken
from qms.commands.call import Call
from qms.commands.command import command
from qms.commands.requests import NoArguments
from qms.dropins.server_memory.server_memory_types import (
    GraphAnswer,
    GraphEntity,
    GraphRelation,
    OpenNodesRequest,
    SearchNodesRequest,
    spoken,
)
from qms.memory.access import AccessTier
from qms.memory.bodies import Kind
from qms.memory.deadline import Deadline
from qms.memory.entities import is_placeholder, relation_text
from qms.memory.entry import Document
from qms.memory.retention import is_expired
from qms.search.query import check_query_bytes
from qms.store.view import Record

RELATIONS_PER_ENTITY = 10
"""An answer has at most this many relations times the limit of entities."""


@command(
    tier=AccessTier.READER,
    toolset="serverMemory",
    name="read_graph",
    help="Read the knowledge graph; of a large one the part that was changed last",
    read_only=True,
    idempotent=True,
)
def read_graph(call: Call, _request: NoArguments) -> Spoken[GraphAnswer]:
    """Return the whole graph, or its last changed part."""
    return _graph(call, _entities(call), is_whole=True)


@command(
    tier=AccessTier.READER,
    toolset="serverMemory",
    name="search_nodes",
    help="Search for entities whose name, type or observations hold a text",
    example={"query": "spanish"},
    read_only=True,
    idempotent=True,
    brief=True,
)
def search_nodes(call: Call, request: SearchNodesRequest) -> Spoken[GraphAnswer]:
    """Return the entities that contain a text, and their relations."""
    check_query_bytes(request.query, call.settings.global_.limits, "query")
    wanted = request.query.lower()

    def holds(entity: GraphEntity) -> bool:
        texts = (entity.name, entity.entity_type, *entity.observations)
        return any(wanted in text.lower() for text in texts)

    return _graph(call, _entities(call), holds)


@command(
    tier=AccessTier.READER,
    toolset="serverMemory",
    name="open_nodes",
    help="Open entities by their names, with their relations",
    example={"names": ["John_Smith"]},
    read_only=True,
    idempotent=True,
    brief=True,
)
def open_nodes(call: Call, request: OpenNodesRequest) -> Spoken[GraphAnswer]:
    """Return the entities with these names, and their relations."""
    names = frozenset(request.names)
    records = _entities(call)
    # Titles are in the header, while every other field has to be decoded.
    named = [record for record in records if record.header.title in names]
    return _graph(call, records, candidates=named)


def entity_of(document: Document) -> GraphEntity:
    """Return an entry of kind `entity` in the form of this toolset."""
    body = document["body"]
    return GraphEntity(
        name=document["title"],
        entity_type=body.get("entityType") or "",
        observations=body["observations"],
    )


def _graph(
    call: Call,
    records: list[Record],
    is_wanted: Callable[[GraphEntity], bool] = lambda _: True,
    *,
    candidates: list[Record] | None = None,
    is_whole: bool = False,
) -> Spoken[GraphAnswer]:
    """Return the wanted entities, and the relations that begin or end at one of them."""
    found: dict[str, GraphEntity] = {}
    ends: set[str] = set()
    for record in call.deadline.rows(records if candidates is None else candidates):
        document = record.document()
        if not is_placeholder(document):
            entity = entity_of(document)
            if is_wanted(entity):
                found[record.header.id] = entity
        elif is_whole:
            ends.add(record.header.id)
    limit = call.settings.global_.limits.graph_nodes
    shown = _last_changed(records, found, limit)
    relations = list(_relations(records, ends | shown, call.deadline))
    most = limit * RELATIONS_PER_ENTITY
    note = _note(len(found), len(shown), len(relations), most)
    answer = GraphAnswer(
        entities=[entity for entry_id, entity in found.items() if entry_id in shown],
        relations=relations[:most],
        note=note or UNSET,
    )
    return spoken(answer, answer)


def _entities(call: Call) -> list[Record]:
    """Return the entities that are not expired, in the order of their creation."""
    store = call.store
    return [
        record
        for record in call.deadline.rows(store.in_file_order(store.view))
        if record.header.kind is Kind.ENTITY and not is_expired(record.header, call.now)
    ]


def _last_changed(records: list[Record], found: dict[str, GraphEntity], limit: int) -> set[str]:
    if len(found) <= limit:
        return set(found)
    wanted = (record for record in records if record.header.id in found)
    newest = sorted(wanted, key=lambda one: (one.order, one.header.timestamps.updated_utc))
    return {record.header.id for record in newest[-limit:]}


def _relations(
    records: list[Record], ends: set[str], deadline: Deadline
) -> Iterable[GraphRelation]:
    names = {record.header.id: record.header.title for record in records}
    for record in deadline.rows(records):
        for relation in record.header.relations:
            target = names.get(relation.target_id)
            if target is not None and (record.header.id in ends or relation.target_id in ends):
                yield GraphRelation(
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
