"""Every list of every request type has a limit, which is checked before any work."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
import pytest
from msgspec import inspect

from qms.app.table import ADMIN_TABLE, TABLE
from qms.commands.command import Command
from qms.commands.requests import Request, read_request
from qms.features.sync.sync_commands import SyncBaseRequest
from qms.memory.access import LOCAL_ADMIN
from qms.memory.errors import InvalidInputError
from qms.memory.limits import DEFAULT_LIMITS, Limits
from tests.support.house import House

MANY = 100_000
ROWS = (*TABLE, *ADMIN_TABLE)
WHOLE_STORES = {"syncBase.versions"}
"""A sync names every entry of a store, so that its limit is higher; it has its own test."""


class Long(NamedTuple):
    """A request of a command in which one list, at a place of any depth, has too many items."""

    command: str
    place: str
    request: Any


def longs(kind: inspect.Type, place: str) -> Iterator[tuple[str, Any]]:
    """Yield each place of a type where a list or an object can be, and a value that is long there.

    Below a value of any type, a list inside of an object stands for all the others.
    """
    match kind:
        case inspect.Metadata():
            yield from longs(kind.type, place)
        case inspect.UnionType():
            for one in kind.types:
                yield from longs(one, place)
        case inspect.AnyType():
            yield place, [0] * MANY
            yield f"{place}.inner", {"inner": [0] * MANY}
            yield place, {str(number): 0 for number in range(MANY)}
        case inspect.CollectionType():
            yield place, unlike(kind.item_type, MANY)
            yield from ((inner, [value]) for inner, value in longs(kind.item_type, f"{place}[0]"))
        case inspect.DictType():
            yield place, dict.fromkeys(map(str, range(MANY)), plain(kind.value_type))
            yield from ((at, {"a": value}) for at, value in longs(kind.value_type, f"{place}.a"))
        case inspect.StructType():
            for field in kind.fields:
                for inner, value in longs(field.type, f"{place}.{field.encode_name}".lstrip(".")):
                    yield inner, {**plain(kind), field.encode_name: value}


def unlike(kind: inspect.Type, count: int) -> list[Any]:
    """Return so many values of a type, unlike each other where they are texts."""
    if isinstance(kind, inspect.StrType):
        return [str(number) for number in range(count)]
    return [plain(kind)] * count


def plain(kind: inspect.Type) -> Any:
    """Return a value that a type takes."""
    match kind:
        case inspect.Metadata():
            return plain(kind.type)
        case inspect.UnionType():
            return plain(kind.types[0])
        case inspect.StructType():
            return {one.encode_name: plain(one.type) for one in kind.fields if one.required}
        case inspect.CollectionType():
            return unlike(kind.item_type, kind.min_length or 0)
        case _:
            return simple(kind)


def simple(kind: inspect.Type) -> Any:
    match kind:
        case inspect.EnumType():
            return next(iter(kind.cls)).value
        case inspect.LiteralType():
            return kind.values[0]
        case inspect.IntType() | inspect.FloatType():
            return kind.ge or 1
        case inspect.StrType():
            return "a"
        case _:
            return {inspect.BoolType: False, inspect.DictType: {}}.get(type(kind))


def every_long() -> Iterator[Long]:
    for row in ROWS:
        for place, request in longs(inspect.type_info(row.request), ""):
            if f"{row.name}.{place}" not in WHOLE_STORES:
                yield Long(row.name, place, request)


def row_named(name: str) -> Command:
    return next(row for row in ROWS if row.name == name)


def test_the_walk_meets_the_lists_that_are_known() -> None:
    met = {f"{one.command}.{one.place}" for one in every_long()}

    assert {
        "searchEntries.query.filter.anyTags",
        "searchEntries.query.embedding",
        "listEntries.filter.kinds",
        "listEntries.filter.metadata.a.inner",
        "upsertEntry.entry.a.inner",
        "bulkImport.entries[0].inner",
        "relatedEntries.types",
        "consolidateEntries.ids",
        "create_entities.entities[0].observations",
        "syncApply.changes[0].entry",
        "setPermissions.permissions",
        "createProject.settings.toolsets",
    } <= met


@pytest.mark.attack(84)
def test_every_list_of_every_command_is_refused_beyond_its_limit(house: House) -> None:
    for command, place, request in every_long():
        project = None if row_named(command).route else "projA"
        with pytest.raises(InvalidInputError) as refused:
            house.gate.call(LOCAL_ADMIN, project, command, request)
        assert refused.value.details["field"] == place, (command, refused.value)
        names_limit = "is over the limit" in refused.value.message
        assert names_limit or "of length <=" in refused.value.message, (command, refused.value)


@pytest.mark.attack(84)
def test_a_sync_may_name_a_whole_store_and_has_a_limit_all_the_same() -> None:
    versions = {"a": "1", "b": "1", "c": "1"}
    request = {"peer": "other", "versions": versions}

    read_request(request, SyncBaseRequest, Limits(sync_entries=3))
    with pytest.raises(InvalidInputError) as refused:
        read_request(request, SyncBaseRequest, Limits(sync_entries=2))

    assert refused.value.details == {"field": "versions", "limit": "syncEntries", "maximum": 2}


class Nested(Request, frozen=True):
    """A request type that no command has: a new one is bounded without a word about limits."""

    parts: list[list[dict[str, Any]]]


def test_a_new_request_type_has_limits_at_every_depth() -> None:
    within = {"parts": [[{"a": [1]}]] * DEFAULT_LIMITS.list_items}
    assert read_request(within, Nested, DEFAULT_LIMITS) == msgspec.convert(within, Nested)

    limits = Limits(list_items=2, value_items=3)
    for parts, field, limit in (
        ([[], [], []], "parts", "listItems"),
        ([[], [{}, {}, {}]], "parts[1]", "listItems"),
        ([[{"a": {"b": [1, 2, 3, 4]}}]], "parts[0][0].a.b", "valueItems"),
        ([[{"a": 1, "b": 2, "c": 3}]], "parts[0][0]", "listItems"),
    ):
        with pytest.raises(InvalidInputError) as refused:
            read_request({"parts": parts}, Nested, limits)
        assert refused.value.details["field"] == field
        assert refused.value.details["limit"] == limit


@pytest.mark.attack(84)
@pytest.mark.parametrize("command", ["memory_search", "memory_list", "memory_recall"])
def test_tags_written_with_commas_have_the_limit_of_a_list(house: House, command: str) -> None:
    asked = {"memory_search": {"query": "a"}, "memory_recall": {"context": "a"}}.get(command, {})
    tags = ",".join(map(str, range(MANY)))

    with pytest.raises(InvalidInputError) as refused:
        house.gate.call(LOCAL_ADMIN, "projA", command, {**asked, "tags": tags})

    assert refused.value.details["limit"] == "listItems"
