"""Changes the graph of entities; each call is one atomic change."""

from collections.abc import Iterable
from typing import Any

from msgspec import UNSET

from qms.commands.answers import Spoken
from qms.commands.call import Call
from qms.commands.command import command
from qms.commands.entry_writes import WriteRules, check_quota, living, upsert, write_rules
from qms.commands.secrets_policy import withhold
from qms.dropins.server_memory.read_graph import entity_of
from qms.dropins.server_memory.server_memory_types import (
    AddedObservations,
    AddObservationsRequest,
    CreateEntitiesRequest,
    DeleteEntitiesRequest,
    DeleteObservationsRequest,
    DoneAnswer,
    EntitiesAnswer,
    GraphEntity,
    GraphRelation,
    ObservationsAnswer,
    RelationsAnswer,
    RelationsRequest,
    done,
    spoken,
)
from qms.memory.access import AccessTier, may_edit
from qms.memory.bodies import Kind
from qms.memory.entities import (
    PLACEHOLDER,
    entity_document,
    entity_local_id,
    is_placeholder,
    placeholder_document,
    relation_document,
    relation_text,
)
from qms.memory.entry import Document
from qms.memory.entry_input import patched_document
from qms.memory.errors import NotFoundError, invalid
from qms.store.draft import Draft
from qms.store.view import Record


class Nodes:
    """The entities of a project by name; created outside of the writer, used inside."""

    def __init__(self, call: Call, names: Iterable[str]) -> None:
        """Search once, before the writer is entered, for entities in all namespaces."""
        self.writing: WriteRules = write_rules(call)
        self._call = call
        wanted = frozenset(names)
        # The index of titles covers one namespace at a time, and the graph has all of them.
        self._ids_by_name = {
            record.header.title: record.header.id
            for record in call.store.view.records.values()
            if record.header.kind is Kind.ENTITY and record.header.title in wanted
        }

    def find(self, draft: Draft, name: str) -> Record | None:
        """Return the entity with exactly this name, also if it is a placeholder."""
        for entry_id in (self._id(name), self._ids_by_name.get(name)):
            record = living(draft, entry_id, self.writing.now) if entry_id else None
            if record is not None and _has_name(record, name):
                return record
        namesakes = list(draft.same_title(Kind.ENTITY, None, name))
        return next((one for one in namesakes if _has_name(one, name)), None)

    def known(self, draft: Draft, name: str) -> Record | None:
        """Return the entity with this name, unless it is only a placeholder."""
        record = self.find(draft, name)
        return None if record is None or is_placeholder(record.document()) else record

    def make(self, draft: Draft, document: Document) -> Record:
        """Create an entity, with the id derived from its name if that is free."""
        entry_id = self._id(document["title"])
        if draft.get(entry_id) is not None:
            entry_id = f"{self._call.project}:{self._call.new_local_id()}"
        given = {**document, "id": entry_id}
        return upsert(draft, given, self.writing, local_id=entry_id.partition(":")[2]).record

    def find_or_stand_in(self, draft: Draft, name: str) -> Record:
        """Return the entity with this name, or a new placeholder."""
        return self.find(draft, name) or self.make(draft, placeholder_document(name))

    def _id(self, name: str) -> str:
        return f"{self._call.project}:{entity_local_id(name)}"


def check_name(name: str, field: str) -> None:
    """Raise `InvalidInputError` for an empty name."""
    if not name.strip():
        raise invalid(field, "is empty")


def no_entity(name: str) -> NotFoundError:
    """Return the error for a name that no entity has."""
    return NotFoundError(f"Entity with name {name[:200]} not found", name=name[:200])


def _has_name(record: Record, name: str) -> bool:
    return record.header.kind is Kind.ENTITY and record.header.title == name


Relations = list[dict[str, Any]]

_EXAMPLE_ENTITY = {
    "name": "John_Smith",
    "entityType": "person",
    "observations": ["Speaks fluent Spanish"],
}
_EXAMPLE_RELATION = {"from": "John_Smith", "to": "Anthropic", "relationType": "works_at"}

_SHOWN_RELATIONS, _SHOWN_CHARACTERS = 10, 100
"""How many relations that were left out are named, and how much of their names."""


@command(
    tier=AccessTier.WRITER,
    toolset="serverMemory",
    name="create_entities",
    help="Create new entities in the knowledge graph; names that exist are left as they are",
    example={"entities": [_EXAMPLE_ENTITY]},
    idempotent=True,
    brief=True,
)
def create_entities(call: Call, request: CreateEntitiesRequest) -> Spoken[EntitiesAnswer]:
    """Create the entities whose names do not exist yet."""
    for number, entity in enumerate(request.entities):
        check_name(entity.name, f"entities[{number}].name")
    documents = [_kept(call, _document(entity)) for entity in request.entities]
    nodes = Nodes(call, (one["title"] for one in documents))

    def plan(draft: Draft) -> list[GraphEntity]:
        return [entity_of(one) for one in documents if _create(draft, one, nodes)]

    made = call.commit(plan)
    return spoken(EntitiesAnswer(entities=made), made)


@command(
    tier=AccessTier.WRITER,
    toolset="serverMemory",
    name="create_relations",
    help="Create new relations between entities, in active voice",
    example={"relations": [_EXAMPLE_RELATION]},
    idempotent=True,
    brief=True,
)
def create_relations(call: Call, request: RelationsRequest) -> Spoken[RelationsAnswer]:
    """Create the relations that do not exist yet; unknown names get a placeholder.

    A relation from an entity to itself is left out and named; the others are created.
    """
    for number, relation in enumerate(request.relations):
        check_name(relation.source, f"relations[{number}].from")
        check_name(relation.target, f"relations[{number}].to")
    wanted = [one for one in request.relations if one.source != one.target]
    nodes = Nodes(call, _names(wanted))

    def plan(draft: Draft) -> list[GraphRelation]:
        made: dict[GraphRelation, None] = {}
        for source, relations in _by_source(wanted).items():
            before = nodes.find_or_stand_in(draft, source)
            new = _new_relations(draft, before, relations, nodes)
            made |= dict.fromkeys(new)
            if new:
                _patch(draft, before, {"relations": _with(before, new.values())}, nodes.writing)
        return [one for one in dict.fromkeys(wanted) if one in made]

    made = call.commit(plan)
    note = _note_on_left_out(request.relations)
    answer = RelationsAnswer(relations=made, note=note or UNSET)
    return spoken(answer, answer if note else made)


@command(
    tier=AccessTier.WRITER,
    toolset="serverMemory",
    name="add_observations",
    help="Add new observations to entities that exist",
    example={"observations": [{"entityName": "John_Smith", "contents": ["Graduated in 2019"]}]},
    idempotent=True,
    brief=True,
)
def add_observations(call: Call, request: AddObservationsRequest) -> Spoken[ObservationsAnswer]:
    """Add new observations to existing entities."""
    nodes = Nodes(call, (one.entity_name for one in request.observations))

    def add(draft: Draft, name: str, contents: list[str]) -> AddedObservations:
        before = nodes.known(draft, name)
        if before is None:
            raise no_entity(name)
        old: list[str] = before.document()["body"]["observations"]
        known = frozenset(old)
        added = [text for text in _kept_texts(call, contents) if text not in known]
        if added:
            _patch(draft, before, {"body": {"observations": [*old, *added]}}, nodes.writing)
        return AddedObservations(entity_name=name, added_observations=added)

    results = call.commit(
        lambda draft: [add(draft, one.entity_name, one.contents) for one in request.observations]
    )
    return spoken(ObservationsAnswer(results=results), results)


@command(
    tier=AccessTier.WRITER,
    toolset="serverMemory",
    name="delete_entities",
    help="Delete entities and the relations that begin or end there",
    example={"entityNames": ["John_Smith"]},
    destructive=True,
    idempotent=True,
    brief=True,
)
def delete_entities(call: Call, request: DeleteEntitiesRequest) -> Spoken[DoneAnswer]:
    """Archive entities, and remove the relations to them."""
    nodes = Nodes(call, request.entity_names)

    def plan(draft: Draft) -> None:
        for name in request.entity_names:
            record = nodes.find(draft, name)
            if record is not None:
                _remove(draft, record, nodes.writing)

    call.commit(plan)
    return done("Entities deleted successfully")


@command(
    tier=AccessTier.WRITER,
    toolset="serverMemory",
    name="delete_observations",
    help="Delete observations from entities",
    example={"deletions": [{"entityName": "John_Smith", "observations": ["Graduated in 2019"]}]},
    destructive=True,
    idempotent=True,
    brief=True,
)
def delete_observations(call: Call, request: DeleteObservationsRequest) -> Spoken[DoneAnswer]:
    """Remove observations from entities; a missing one is no error."""
    nodes = Nodes(call, (one.entity_name for one in request.deletions))

    def plan(draft: Draft) -> None:
        for one in request.deletions:
            before = nodes.known(draft, one.entity_name)
            old = before.document()["body"]["observations"] if before else []
            unwanted = frozenset(one.observations)
            kept = [text for text in old if text not in unwanted]
            if before is not None and kept != old:
                _patch(draft, before, {"body": {"observations": kept}}, nodes.writing)

    call.commit(plan)
    return done("Observations deleted successfully")


@command(
    tier=AccessTier.WRITER,
    toolset="serverMemory",
    name="delete_relations",
    help="Delete relations from the knowledge graph",
    example={"relations": [_EXAMPLE_RELATION]},
    destructive=True,
    idempotent=True,
    brief=True,
)
def delete_relations(call: Call, request: RelationsRequest) -> Spoken[DoneAnswer]:
    """Remove relations; a missing one is no error."""
    nodes = Nodes(call, _names(request.relations))

    def plan(draft: Draft) -> None:
        for source, relations in _by_source(request.relations).items():
            before = nodes.find(draft, source)
            if before is not None:
                targets = [(nodes.find(draft, one.target), one) for one in relations]
                wanted = {(end.header.id, one.relation_type) for end, one in targets if end}
                old = _relations_of(before)
                kept = [one for one in old if _identity(one) not in wanted]
                if kept != old:
                    _patch(draft, before, {"relations": kept}, nodes.writing)
                _drop_unused(draft, [source_id for source_id, _ in wanted] + [before.header.id])

    call.commit(plan)
    return done("Relations deleted successfully")


def _note_on_left_out(relations: Iterable[GraphRelation]) -> str:
    """Return a note on the relations that are left out because source and target are equal."""
    left_out = [
        f"{one.source[:_SHOWN_CHARACTERS]} {one.relation_type[:_SHOWN_CHARACTERS]} itself"
        for one in dict.fromkeys(relations)
        if one.source == one.target
    ]
    if not left_out:
        return ""
    shown = ", ".join(left_out[:_SHOWN_RELATIONS])
    more = len(left_out) - _SHOWN_RELATIONS
    rest = f", and {more} more" if more > 0 else ""
    return f"an entity cannot relate to itself, left out: {shown}{rest}"


def _create(draft: Draft, document: Document, nodes: Nodes) -> bool:
    before = nodes.find(draft, document["title"])
    if before is None:
        nodes.make(draft, document)
    elif is_placeholder(before.document()):
        patch = {"body": document["body"], "metadata": {PLACEHOLDER: None}}
        _patch(draft, before, patch, nodes.writing)
    else:
        return False
    return True


def _new_relations(
    draft: Draft, before: Record, relations: Iterable[GraphRelation], nodes: Nodes
) -> dict[GraphRelation, dict[str, Any]]:
    there = {_identity(one) for one in _relations_of(before)}
    new: dict[GraphRelation, dict[str, Any]] = {}
    for relation in relations:
        target = nodes.find_or_stand_in(draft, relation.target).header.id
        if (target, relation.relation_type) not in there:
            new[relation] = relation_document(target, relation.relation_type)
    return new


def _remove(draft: Draft, record: Record, writing: WriteRules) -> None:
    entry_id = record.header.id
    for source in draft.finish().incoming.get(entry_id, ()):
        before = draft.get(source)
        # An entity that the caller may not edit keeps its relation, which is hidden from now on.
        if before is None or before.header.kind is not Kind.ENTITY:
            continue
        if may_edit(draft.right, before.header):
            kept = [one for one in _relations_of(before) if one["targetId"] != entry_id]
            _patch(draft, before, {"relations": kept}, writing)
            _drop_unused(draft, [source])
    draft.remove(entry_id)
    _drop_unused(draft, [relation.target_id for relation in record.header.relations])


def _drop_unused(draft: Draft, ids: Iterable[str]) -> None:
    """Remove placeholders without relations; they hold nothing to archive."""
    for entry_id in ids:
        record = draft.get(entry_id)
        if record is None or record.header.relations or not is_placeholder(record.document()):
            continue
        if record.header.is_permanent or not may_edit(draft.right, record.header):
            continue
        if not draft.finish().incoming.get(entry_id):
            draft.remove(entry_id, keep=False)


def _patch(draft: Draft, before: Record, patch: Document, writing: WriteRules) -> None:
    document = patched_document(patch, before.document(), now=writing.now, rules=writing.rules)
    check_quota(draft, writing, document, before)
    draft.put(document)


def _document(entity: GraphEntity) -> Document:
    return entity_document(entity.name, entity.entity_type, entity.observations)


def _kept(call: Call, document: Document) -> Document:
    return withhold(document, call.endpoint.secrets, call.rules.limits)[0]


def _kept_texts(call: Call, texts: list[str]) -> list[str]:
    kept: list[str] = _kept(call, {"observations": texts})["observations"]
    return kept


def _by_source(relations: Iterable[GraphRelation]) -> dict[str, list[GraphRelation]]:
    grouped: dict[str, list[GraphRelation]] = {}
    for relation in relations:
        grouped.setdefault(relation.source, []).append(relation)
    return grouped


def _names(relations: Iterable[GraphRelation]) -> list[str]:
    return [name for one in relations for name in (one.source, one.target)]


def _relations_of(record: Record) -> Relations:
    relations: Relations = record.document().get("relations", [])
    return relations


def _with(record: Record, new: Iterable[dict[str, Any]]) -> Relations:
    return [*_relations_of(record), *new]


def _identity(relation: dict[str, Any]) -> tuple[str, str]:
    return relation["targetId"], relation_text(relation["type"], relation.get("metadata"))
