"""Fields of listed objects that are not read, and the types of requests that leave any out."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from qms.app.table import ADMIN_TABLE, TABLE
from qms.commands.unread_fields import MOST, unread_fields
from qms.dropins.server_memory.server_memory_types import CreateEntitiesRequest
from tests.support.house import Door

JOHN = {"name": "John", "entityType": "person", "observations": ["tall"]}

REQUESTS: list[tuple[str, dict[str, Any]]] = [
    ("create_entities", {"entities": [JOHN]}),
    ("create_relations", {"relations": [{"from": "John", "to": "Ann", "relationType": "knows"}]}),
    ("add_observations", {"observations": [{"entityName": "John", "contents": ["old"]}]}),
    ("delete_observations", {"deletions": [{"entityName": "John", "observations": ["tall"]}]}),
    ("delete_relations", {"relations": [{"from": "John", "to": "Ann", "relationType": "knows"}]}),
]


@pytest.mark.parametrize(("command", "request_"), REQUESTS)
def test_a_field_of_a_listed_object_that_is_not_read_is_named(
    as_writer: Door, command: str, request_: dict[str, Any]
) -> None:
    if command != "create_entities":
        as_writer("create_entities", entities=[JOHN])
    ((name, items),) = request_.items()
    answer = as_writer(command, **{name: [{**items[0], "since": 2020}]})

    assert answer["warnings"] == [f"{name}[0].since is not known: left out"]


def test_a_request_with_known_fields_has_no_remark() -> None:
    assert unread_fields({"entities": [JOHN, JOHN]}, CreateEntitiesRequest) == []


def test_the_remarks_are_few_and_short() -> None:
    many = {"x" * 5_000 + str(number): 1 for number in range(5_000)}
    remarks = unread_fields({"entities": [{**JOHN, **many}]}, CreateEntitiesRequest)

    assert len(remarks) == MOST + 1
    assert max(map(len, remarks)) < 300


def structs_of(kind: Any, place: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the object types below a type, with the names that lead to them."""
    if isinstance(kind, msgspec.inspect.StructType):
        yield place, kind
        for field in kind.fields:
            yield from structs_of(field.type, (*place, field.encode_name))
    for name in ("type", "item_type", "value_type"):
        if isinstance(inner := getattr(kind, name, None), msgspec.inspect.Type):
            yield from structs_of(inner, place)
    for inner in (*getattr(kind, "types", ()), *getattr(kind, "item_types", ())):
        yield from structs_of(inner, place)


def test_no_request_leaves_a_field_out_in_another_place() -> None:
    for row in (*TABLE, *ADMIN_TABLE):
        for place, found in structs_of(msgspec.inspect.type_info(row.request), ()):
            if not found.forbid_unknown_fields:
                given: dict[str, Any] = {place[0]: [{"zz": 1}]}
                assert unread_fields(given, row.request), (row.name, place)
                assert len(place) == 1, (row.name, place)
