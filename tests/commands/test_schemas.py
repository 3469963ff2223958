"""Schemas for agents: true, and short enough for a list of tools."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from qms.app.table import ADMIN_TABLE, TABLE
from qms.commands.command import Command
from qms.commands.schemas import has_formats, request_schema, response_schema
from qms.features.health.describe import schema_document
from qms.http.openapi import openapi_document
from qms.mcp.tools import tool_of
from qms.memory.bodies import MAIN_FIELDS
from qms.memory.json_schema import HIDDEN
from tests.conformance.rows import ROWS as SUITE

ROWS = {command.name: command for command in TABLE}
CORE = [command for command in TABLE if command.toolset == "core"]
MIRRORED = next(command for command in SUITE if command.name == "test_header_mirror")
TOOL_LIST_BYTES = 14_000


def tool(command: Command) -> dict[str, Any]:
    """Return a command as a client of MCP is told of it."""
    return tool_of(command).model_dump(by_alias=True, exclude_none=True)


def test_the_list_of_all_core_tools_fits_into_fourteen_kilobytes() -> None:
    listed = msgspec.json.encode({"tools": [tool(command) for command in CORE]})

    assert len(listed) < TOOL_LIST_BYTES


@pytest.mark.parametrize("name", ROWS)
def test_every_schema_is_an_object_without_references(name: str) -> None:
    for schema in (request_schema(ROWS[name]), response_schema(ROWS[name])):
        text = msgspec.json.encode(schema)

        assert schema["type"] == "object"
        assert b"$ref" not in text
        assert b"title" not in msgspec.json.encode(list(schema))


def parts(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a schema and all that are in it."""
    yield schema
    inside = [*schema.get("properties", {}).values(), *schema.get("anyOf", [])]
    for one in [*inside, *([schema["items"]] if "items" in schema else [])]:
        yield from parts(one)


@pytest.mark.parametrize("name", ROWS)
def test_every_value_has_a_type_and_every_array_says_what_is_in_it(name: str) -> None:
    for schema in (request_schema(ROWS[name]), response_schema(ROWS[name])):
        for part in parts(schema):
            kinds = part.get("type", "anyOf" in part and "any")
            assert kinds, part
            assert ("array" in kinds) == ("items" in part), part
            assert "enum" not in part or kinds == "string", part


@pytest.mark.parametrize("name", ROWS)
def test_a_request_schema_names_every_field_and_those_that_are_needed(name: str) -> None:
    fields = msgspec.structs.fields(ROWS[name].request)
    schema = request_schema(ROWS[name])
    hidden = {f.encode_name for f in fields if HIDDEN in getattr(f.type, "__metadata__", ())}

    assert set(schema["properties"]) == {field.encode_name for field in fields} - hidden
    assert not any(field.required for field in fields if field.encode_name in hidden)
    assert schema.get("required", []) == [f.encode_name for f in fields if f.required]


@pytest.mark.parametrize("name", ROWS)
def test_a_response_schema_asks_for_no_field_where_rows_may_come_instead(name: str) -> None:
    schema = response_schema(ROWS[name])
    required = {
        field.encode_name for field in msgspec.structs.fields(ROWS[name].response) if field.required
    }

    assert set(schema.get("required", [])) == (set() if has_formats(ROWS[name]) else required)


def test_the_bodies_of_all_kinds_are_told_once() -> None:
    told = request_schema(ROWS["upsertEntry"])["properties"]["entry"]["description"]

    assert [kind for kind in MAIN_FIELDS if f"{kind}." not in told] == []
    everywhere = msgspec.json.encode([tool(command) for command in CORE])
    assert everywhere.count(b"procedure.steps") == 1


def test_a_filter_is_told_once_and_without_its_other_spellings() -> None:
    listed = request_schema(ROWS["listEntries"])["properties"]["filter"]["properties"]
    searched = request_schema(ROWS["searchEntries"])["properties"]["query"]["properties"]["filter"]

    assert {"kinds", "anyTags", "updatedAfter"} <= set(listed)
    assert not {"kind", "tier", "tag"} & set(listed)
    assert searched == {"type": "object", "description": "As in listEntries"}


def test_a_value_that_may_be_missing_in_an_answer_is_said_to_be() -> None:
    fields = response_schema(ROWS["listEntries"])["properties"]

    assert fields["nextCursor"] == {"type": ["string", "null"]}
    assert fields["items"] == {"type": "array", "items": {"type": "object"}}
    embedder = response_schema(ROWS["health"])["properties"]["embedder"]
    assert embedder == {"anyOf": [{"type": "object"}, {"type": "null"}]}


def test_a_field_that_a_header_repeats_is_marked() -> None:
    schema = request_schema(MIRRORED)

    assert schema["properties"]["region"] == {"type": "string", "x-mcp-header": "Region"}


def test_no_public_schema_names_a_module_or_a_private_type() -> None:
    rows = [*TABLE, *ADMIN_TABLE]
    published = schema_document(rows, datetime.now(UTC))
    names = [*openapi_document(rows)["components"]["schemas"], *published["$defs"]]
    text = msgspec.json.encode([openapi_document(rows), published, list(map(tool, rows))]).decode()

    # Two types of one name get the names of their modules: give one of them another name.
    assert [name for name in names if not re.fullmatch("[A-Z][A-Za-z0-9]*", name)] == []
    assert "qms.commands" not in text
