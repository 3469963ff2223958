"""Schemas for agents: true, and short enough for a list of tools."""

import msgspec
import pytest

from qms.domain.bodies import MAIN_FIELDS
from qms.service.calls import Command
from qms.service.schemas import has_formats, request_schema, response_schema
from qms.service.table import TABLE

ROWS = {command.name: command for command in TABLE}
CORE = [command for command in TABLE if command.toolset == "core"]
TOOL_LIST_BYTES = 11_000


def tool(command: Command) -> dict[str, object]:
    """Return a command as a client of MCP is told of it."""
    return {
        "name": command.name,
        "description": command.help,
        "inputSchema": request_schema(command),
        "outputSchema": response_schema(command),
        "annotations": {
            "title": command.name.title(),
            "readOnlyHint": command.read_only,
            "destructiveHint": command.destructive,
            "idempotentHint": command.idempotent,
            "openWorldHint": False,
        },
    }


def test_the_list_of_all_core_tools_fits_into_eleven_kilobytes() -> None:
    listed = msgspec.json.encode({"tools": [tool(command) for command in CORE]})

    assert len(listed) < TOOL_LIST_BYTES


@pytest.mark.parametrize("name", ROWS)
def test_every_schema_is_an_object_without_references(name: str) -> None:
    for schema in (request_schema(ROWS[name]), response_schema(ROWS[name])):
        text = msgspec.json.encode(schema)

        assert schema["type"] == "object"
        assert b"$ref" not in text
        assert b"title" not in msgspec.json.encode(list(schema))


@pytest.mark.parametrize("name", ROWS)
def test_a_request_schema_names_every_field_and_those_that_are_needed(name: str) -> None:
    fields = msgspec.structs.fields(ROWS[name].request)
    schema = request_schema(ROWS[name])

    assert set(schema["properties"]) == {field.encode_name for field in fields}
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
    assert fields["items"] == {"type": "array"}
