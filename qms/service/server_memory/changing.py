"""Changing the graph of entities; each call is one change, whole or not at all."""

from collections.abc import Iterable, Sequence
from typing import Any

from qms.codec.documents import header_of, over_limit
from qms.domain.access import check_delete, check_edit, may_edit
from qms.domain.bodies import Kind
from qms.domain.entry import Document
from qms.domain.errors import invalid
from qms.ingest.entities import (
    PLACEHOLDER,
    entity_document,
    is_placeholder,
    relation_document,
    relation_text,
)
from qms.ingest.entries import patched_document
from qms.ingest.withhold import withhold
from qms.service.answers import Spoken
from qms.service.calls import Call
from qms.service.server_memory.graph import entity_of
from qms.service.server_memory.nodes import Nodes, check_name, no_entity
from qms.service.server_memory.shapes import (
    AddedObservations,
    AddObservationsRequest,
    CreateEntitiesRequest,
    DeleteEntitiesRequest,
    DeleteObservationsRequest,
    EntitiesAnswer,
    Entity,
    ObservationsAnswer,
    Relation,
    RelationsAnswer,
    RelationsRequest,
    done,
    spoken,
)
from qms.service.writing import Writing, check_quota
from qms.store.draft import Draft
from qms.store.view import Record

Relations = list[dict[str, Any]]


def create_entities(call: Call, request: CreateEntitiesRequest) -> Spoken:
    """Make entities whose names are not there yet."""
    _check_number(call, "entities", request.entities)
    for number, entity in enumerate(request.entities):
        check_name(entity.name, f"entities[{number}].name")
    documents = [_kept(call, _document(entity)) for entity in request.entities]
    nodes = Nodes(call, (one["title"] for one in documents))

    def plan(draft: Draft) -> list[Entity]:
        return [entity_of(one) for one in documents if _create(draft, one, nodes)]

    made = call.commit(plan)
    return spoken(EntitiesAnswer(entities=made), made)


def create_relations(call: Call, request: RelationsRequest) -> Spoken:
    """Make relations that are not there yet; names that nobody made get a placeholder."""
    _check_number(call, "relations", request.relations)
    for number, relation in enumerate(request.relations):
        check_name(relation.source, f"relations[{number}].from")
        check_name(relation.target, f"relations[{number}].to")
        if relation.source == relation.target:
            raise invalid(f"relations[{number}].to", "is where the relation starts")
    nodes = Nodes(call, _names(request.relations))

    def plan(draft: Draft) -> list[Relation]:
        made: dict[Relation, None] = {}
        for source, relations in _by_source(request.relations).items():
            before = nodes.find_or_stand_in(draft, source)
            new = _new_relations(draft, before, relations, nodes)
            made |= dict.fromkeys(new)
            if new:
                _patch(draft, before, {"relations": _with(before, new.values())}, nodes.writing)
        return [one for one in dict.fromkeys(request.relations) if one in made]

    answer = call.commit(plan)
    return spoken(RelationsAnswer(relations=answer), answer)


def add_observations(call: Call, request: AddObservationsRequest) -> Spoken:
    """Add what is not observed yet to entities that are there."""
    _check_number(call, "observations", request.observations)
    nodes = Nodes(call, (one.entity_name for one in request.observations))

    def add(draft: Draft, name: str, contents: list[str]) -> AddedObservations:
        before = nodes.known(draft, name)
        if before is None:
            raise no_entity(name)
        old: list[str] = before.document()["body"]["observations"]
        added = [text for text in _kept_texts(call, contents) if text not in old]
        if added:
            _patch(draft, before, {"body": {"observations": [*old, *added]}}, nodes.writing)
        return AddedObservations(entity_name=name, added_observations=added)

    results = call.commit(
        lambda draft: [add(draft, one.entity_name, one.contents) for one in request.observations]
    )
    return spoken(ObservationsAnswer(results=results), results)


def delete_entities(call: Call, request: DeleteEntitiesRequest) -> Spoken:
    """Move entities to the archive, and take off the relations that led to them."""
    _check_number(call, "entityNames", request.entity_names)
    nodes = Nodes(call, request.entity_names)

    def plan(draft: Draft) -> None:
        for name in request.entity_names:
            record = nodes.find(draft, name)
            if record is not None:
                check_delete(call.caller.access, record.header, force=False)
                _take_out(draft, record, nodes.writing)

    call.commit(plan)
    return done("Entities deleted successfully")


def delete_observations(call: Call, request: DeleteObservationsRequest) -> Spoken:
    """Take observations off entities; what is not there is no error."""
    _check_number(call, "deletions", request.deletions)
    nodes = Nodes(call, (one.entity_name for one in request.deletions))

    def plan(draft: Draft) -> None:
        for one in request.deletions:
            before = nodes.known(draft, one.entity_name)
            old = before.document()["body"]["observations"] if before else []
            kept = [text for text in old if text not in one.observations]
            if before is not None and kept != old:
                _patch(draft, before, {"body": {"observations": kept}}, nodes.writing)

    call.commit(plan)
    return done("Observations deleted successfully")


def delete_relations(call: Call, request: RelationsRequest) -> Spoken:
    """Take relations away; what is not there is no error."""
    _check_number(call, "relations", request.relations)
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
                _drop_loose(draft, [source_id for source_id, _ in wanted] + [before.header.id])

    call.commit(plan)
    return done("Relations deleted successfully")


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
    draft: Draft, before: Record, relations: Iterable[Relation], nodes: Nodes
) -> dict[Relation, dict[str, Any]]:
    there = {_identity(one) for one in _relations_of(before)}
    new: dict[Relation, dict[str, Any]] = {}
    for relation in relations:
        target = nodes.find_or_stand_in(draft, relation.target).header.id
        if (target, relation.relation_type) not in there:
            new[relation] = relation_document(target, relation.relation_type)
    return new


def _take_out(draft: Draft, record: Record, writing: Writing) -> None:
    entry_id = record.header.id
    for source in draft.finish().incoming.get(entry_id, ()):
        before = draft.get(source)
        # What the caller may not edit keeps its relation, which sleeps without its target.
        if before is None or before.header.kind is not Kind.ENTITY:
            continue
        if may_edit(writing.caller.access, before.header):
            kept = [one for one in _relations_of(before) if one["targetId"] != entry_id]
            _patch(draft, before, {"relations": kept}, writing)
            _drop_loose(draft, [source])
    draft.remove(entry_id)
    _drop_loose(draft, [relation.target_id for relation in record.header.relations])


def _drop_loose(draft: Draft, ids: Iterable[str]) -> None:
    """Let placeholders go that no relation names any more; they hold nothing to archive."""
    for entry_id in ids:
        record = draft.get(entry_id)
        if record is None or record.header.relations or not is_placeholder(record.document()):
            continue
        if not draft.finish().incoming.get(entry_id):
            draft.remove(entry_id, keep=False)


def _patch(draft: Draft, before: Record, patch: Document, writing: Writing) -> None:
    document = patched_document(patch, before.document(), now=writing.now, rules=writing.rules)
    check_edit(writing.caller.access, before.header, header_of(document))
    check_quota(draft, writing, document, before)
    draft.put(document)


def _document(entity: Entity) -> Document:
    return entity_document(entity.name, entity.entity_type, entity.observations)


def _kept(call: Call, document: Document) -> Document:
    return withhold(document, call.endpoint.secrets)[0]


def _kept_texts(call: Call, texts: list[str]) -> list[str]:
    kept: list[str] = _kept(call, {"observations": texts})["observations"]
    return kept


def _by_source(relations: Iterable[Relation]) -> dict[str, list[Relation]]:
    grouped: dict[str, list[Relation]] = {}
    for relation in relations:
        grouped.setdefault(relation.source, []).append(relation)
    return grouped


def _names(relations: Iterable[Relation]) -> list[str]:
    return [name for one in relations for name in (one.source, one.target)]


def _relations_of(record: Record) -> Relations:
    relations: Relations = record.document().get("relations", [])
    return relations


def _with(record: Record, new: Iterable[dict[str, Any]]) -> Relations:
    return [*_relations_of(record), *new]


def _identity(relation: dict[str, Any]) -> tuple[str, str]:
    return relation["targetId"], relation_text(relation["type"], relation.get("metadata"))


def _check_number(call: Call, field: str, given: Sequence[Any]) -> None:
    limit = call.settings.global_.limits.bulk_entries
    if len(given) > limit:
        raise over_limit(field, len(given), limit, "bulkEntries")
