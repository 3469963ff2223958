"""Reads `memory.jsonl` of the MCP memory server: entities and relations, one per line."""

from collections.abc import Iterator
from typing import Any

import msgspec

from qms.features.transfer.importers.items import Broken, Found, Item, Opener, decode, read_lines
from qms.features.transfer.meter import Meter
from qms.memory.entities import (
    entity_document,
    entity_local_id,
    placeholder_document,
    relation_document,
)


class _Line(msgspec.Struct, frozen=True, tag_field="type"):
    """An entity or a relation."""


class _Entity(_Line, frozen=True, tag="entity", rename="camel"):
    name: str
    entity_type: str = ""
    observations: list[str] = []


class _Relation(_Line, frozen=True, tag="relation", rename="camel"):
    source: str = msgspec.field(name="from")
    target: str = msgspec.field(name="to")
    relation_type: str


class _Either(msgspec.Struct, frozen=True):
    value: _Entity | _Relation


Relations = dict[str, list[dict[str, Any]]]


def read_server_memory(
    open_file: Opener, project: str, meter: Meter | None = None
) -> Iterator[Item]:
    """Yield every entity with its relations, then placeholders for names only in relations.

    The meter counts the relations.
    """
    meter = meter or Meter()
    relations: Relations = {}
    targets: dict[str, None] = {}
    for _, value in _values(open_file):
        if isinstance(value, _Relation) and value.source != value.target:
            meter.add_row()
            target = f"{project}:{entity_local_id(value.target)}"
            made = relation_document(target, value.relation_type)
            relations.setdefault(value.source, []).append(made)
            targets[value.target] = None
    seen: set[str] = set()
    for place, value in _values(open_file):
        if isinstance(value, Broken):
            yield value
        elif isinstance(value, _Relation):
            if value.source == value.target:
                yield Broken(place, "to", "must be another entity than from")
        elif not value.name.strip() or value.name in seen:
            reason = "is a duplicate of an earlier line" if value.name in seen else "is empty"
            yield Broken(place, "name", reason)
        else:
            seen.add(value.name)
            document = entity_document(value.name, value.entity_type, value.observations)
            yield Found(place, _with_id(document, value.name, relations))
    for name in dict.fromkeys([*relations, *targets]):
        if name not in seen and name.strip():
            yield Found("a relation", _with_id(placeholder_document(name), name, relations))


def _values(open_file: Opener) -> Iterator[tuple[str, _Entity | _Relation | Broken]]:
    with open_file() as file:
        for line in read_lines(file):
            if isinstance(line, Broken):
                yield line.place, line
                continue
            place, data = line
            found = decode(b'{"value":%b}' % data, _Either, place)
            yield place, _inner(found) if isinstance(found, Broken) else found.value


def _inner(broken: Broken) -> Broken:
    return msgspec.structs.replace(broken, field=broken.field.removeprefix("value").lstrip("."))


def _with_id(document: dict[str, Any], name: str, relations: Relations) -> dict[str, Any]:
    made = {"id": entity_local_id(name), **document, "source": {"type": "serverMemory"}}
    return made | ({"relations": relations[name]} if name in relations else {})
