"""Tools from the command table: who sees which, what they say of themselves and answer."""

from typing import Any

import jsonschema
import msgspec
import pytest

from qms.app.table import TABLE
from qms.mcp.tools import title_of
from qms.memory.access import AccessTier
from tests.conftest import EntryMaker
from tests.mcp.conftest import ClientMaker, SessionMaker
from tests.support.house import House
from tests.support.mcp import SESSION_REVISIONS

CORE = [row for row in TABLE if row.toolset == "core"]
WRITING = [row for row in CORE if row.least > AccessTier.READER]


@pytest.mark.parametrize("user", ["reader", "writer", "curator", "admin"])
def test_only_what_the_tier_can_call_is_listed(mcp: ClientMaker, user: str) -> None:
    access = AccessTier.from_label(user)

    assert mcp(user).tools() == [row.name for row in CORE if row.least <= access]


def test_a_tool_says_what_it_takes_what_it_answers_and_what_it_does(mcp: ClientMaker) -> None:
    tools = {tool["name"]: tool for tool in mcp().result("tools/list")["tools"]}

    for row in CORE:
        tool = tools[row.name]
        assert tool["description"] == row.help
        assert tool["inputSchema"]["type"] == "object"
        assert tool["outputSchema"]["type"] == "object"
        assert tool["annotations"] == {
            "title": title_of(row.name),
            "readOnlyHint": row.read_only,
            "destructiveHint": row.destructive,
            "idempotentHint": row.idempotent,
            "openWorldHint": False,
        }


def test_the_core_tools_of_an_admin_are_told_in_fourteen_kilobytes(mcp: ClientMaker) -> None:
    listed = msgspec.json.encode(mcp("admin").result("tools/list")["tools"])

    assert len(listed) < 14_000


def test_the_five_tools_of_lite_are_told_in_three_kilobytes(mcp: ClientMaker) -> None:
    result = mcp("admin", query="?toolsets=lite").result("tools/list")

    names = [tool["name"] for tool in result["tools"]]
    assert sorted(names) == ["coldStart", "deleteEntry", "getEntry", "recall", "remember"]
    assert names[:2] == ["remember", "recall"]
    assert len(msgspec.json.encode(result["tools"])) < 3_000


def test_every_input_of_lite_is_described(mcp: ClientMaker) -> None:
    for tool in mcp(query="?toolsets=lite").result("tools/list")["tools"]:
        for name, field in tool["inputSchema"]["properties"].items():
            assert field.get("description"), f"{tool['name']}.{name}"


def test_each_core_tool_says_what_it_does_and_when_to_use_it(mcp: ClientMaker) -> None:
    tools = mcp("admin").result("tools/list")["tools"]

    assert [tool["name"] for tool in tools[:2]] == ["remember", "recall"]
    for tool in tools:
        what, _, when = tool["description"].partition(". ")
        assert what
        assert when.startswith("Use it "), tool["name"]


def test_a_flat_tool_names_the_usual_kinds_and_takes_every_kind(mcp: ClientMaker) -> None:
    client = mcp("writer", query="?toolsets=lite")
    tools = {tool["name"]: tool for tool in client.result("tools/list")["tools"]}

    assert "entity" not in tools["remember"]["inputSchema"]["properties"]["kind"]["enum"]
    assert client.call("remember", text="The parser", kind="entity")["created"]


@pytest.mark.parametrize("given", ["toon", "toonCompact"])
def test_rows_of_text_are_the_text_and_the_structure_only_counts_them(
    mcp: ClientMaker, house: House, entry: EntryMaker, given: str
) -> None:
    client = mcp()
    client.call("upsertEntry", entry=entry(title="a | in the title"))
    result = client.result("tools/call", {"name": "listEntries", "arguments": {"format": given}})
    rows = house.door("reader").send("listEntries", {"format": given}).body.decode()

    assert result["structuredContent"] == {"format": given, "count": 1}
    assert [part["text"] for part in result["content"]] == [rows]


def test_an_error_fits_every_output_schema_since_clients_check_that(mcp: ClientMaker) -> None:
    error = {"error": mcp().fails("getEntry", id="absent")}

    for tool in mcp().result("tools/list")["tools"]:
        jsonschema.validate(error, tool["outputSchema"])


def test_an_answer_fits_its_output_schema(mcp: ClientMaker, entry: EntryMaker) -> None:
    client = mcp()
    schemas = {tool["name"]: tool["outputSchema"] for tool in client.result("tools/list")["tools"]}
    stored = client.call("upsertEntry", entry=entry())
    calls: dict[str, dict[str, Any]] = {
        "upsertEntry": {"entry": entry()},
        "getEntry": {"id": stored["id"]},
        "listEntries": {},
        "searchEntries": {"query": {"text": "fact"}},
        "relatedEntries": {"id": stored["id"]},
        "coldStart": {},
        "health": {},
        "describe": {},
    }

    for name, arguments in calls.items():
        jsonschema.validate(client.call(name, **arguments), schemas[name])


def test_the_list_is_cached_for_its_reader_only(mcp: ClientMaker) -> None:
    listed = mcp().result("tools/list")

    assert listed["cacheScope"] == "private"
    assert listed["ttlMs"] > 0


def test_a_title_is_the_name_as_people_write_it() -> None:
    assert title_of("listEntries") == "List entries"
    assert title_of("health") == "Health"


def test_what_one_tool_stores_another_gets(mcp: ClientMaker, entry: EntryMaker) -> None:
    client = mcp("writer")

    stored = client.call("upsertEntry", entry=entry(title="Kept"))
    got = client.call("getEntry", id=stored["id"])

    assert got["entry"]["title"] == "Kept"
    assert got["version"] == stored["version"]


@pytest.mark.parametrize("revision", SESSION_REVISIONS)
def test_every_revision_with_sessions_lists_and_calls(
    session: SessionMaker, entry: EntryMaker, revision: str
) -> None:
    client = session("writer", revision=revision)

    assert client.began["protocolVersion"] == revision
    assert "getEntry" in client.tools()
    stored = client.result("tools/call", {"name": "upsertEntry", "arguments": {"entry": entry()}})
    assert msgspec.json.decode(stored["content"][0]["text"])["created"]


def test_an_error_of_a_command_is_a_result_that_says_so(mcp: ClientMaker) -> None:
    error = mcp().fails("getEntry", id="absent")

    assert error["code"] == "notFound"
    assert error["details"] == {"id": "absent"}


@pytest.mark.parametrize(
    ("arguments", "field"),
    [({}, "id"), ({"id": 5}, "id"), ({"id": "x", "surplus": 1}, "surplus")],
)
def test_arguments_are_checked_although_the_sdk_does_not(
    mcp: ClientMaker, arguments: dict[str, Any], field: str
) -> None:
    error = mcp().fails("getEntry", **arguments)

    assert error["code"] == "invalidInput"
    assert error["details"]["field"] == field


def test_an_unknown_tool_is_an_error_of_the_protocol(
    mcp: ClientMaker, session: SessionMaker
) -> None:
    for client in (mcp(), session()):
        error = client.error("tools/call", {"name": "noSuchTool", "arguments": {}})

        assert error["code"] == -32602
        assert "noSuchTool" in error["message"]


@pytest.mark.attack(7)
@pytest.mark.parametrize("row", WRITING, ids=lambda row: row.name)
def test_a_reader_calls_a_writing_tool_in_vain(
    mcp: ClientMaker, house: House, row: Any, entry: EntryMaker
) -> None:
    stored = house.door("admin")("upsertEntry", entry=entry(id="kept"))

    error = mcp("reader").fails(row.name, **{**row.example, "id": stored["id"]})

    assert error["code"] == "notAllowed"
    assert house.door("admin")("getEntry", id="kept")["version"] == stored["version"]
    assert len(house.store().view) == 1


@pytest.mark.attack(11)
@pytest.mark.parametrize("name", ["getEntry", "patchEntry", "deleteEntry"])
@pytest.mark.parametrize("other", ["projB:secret", "closed:secret"])
def test_an_entry_of_another_project_is_as_absent(
    mcp: ClientMaker, house: House, entry: EntryMaker, name: str, other: str
) -> None:
    house.reconfigure(lambda text: f'{text}\n[permissions.closed]\nadmin = "admin"\n')
    project = other.partition(":")[0]
    house.door("admin", project)("upsertEntry", entry=entry(id="secret"))
    patch = {"patch": {"title": "mine"}} if name == "patchEntry" else {}

    met = mcp("writer").fails(name, id=other, **patch)
    absent = mcp("writer").fails(name, id=other.replace("secret", "absent"), **patch)

    assert met["code"] == "notFound"
    assert repr(met).replace("secret", "absent") == repr(absent)


@pytest.mark.attack(12)
def test_nothing_of_a_closed_store_is_found_counted_or_linked_to(
    mcp: ClientMaker, house: House, entry: EntryMaker
) -> None:
    house.reconfigure(lambda text: f'{text}\n[permissions.closed]\nadmin = "admin"\n')
    house.door("admin", "closed")("upsertEntry", entry=entry(id="hidden", title="Hidden pelican"))
    link = {"type": "ref", "targetId": "closed:hidden"}
    house.door("admin")("upsertEntry", entry=entry(id="open", relations=[link]))
    client = mcp("reader")

    found = client.call("searchEntries", query={"text": "hidden pelican"})
    related = client.call("relatedEntries", id="open")
    health = client.call("health")

    assert "closed" not in repr(found["results"])
    assert [node["id"] for node in related["nodes"]] == ["projA:open"]
    assert related["edges"] == []
    assert "closed" not in [store["name"] for store in health["stores"]]


def test_an_entry_carries_the_name_of_the_client_that_stored_it(
    session: SessionMaker, entry: EntryMaker
) -> None:
    client = session("writer")

    stored = client.call("upsertEntry", entry=entry())

    assert client.call("getEntry", id=stored["id"])["entry"]["agentId"] == "ai:tests"


def test_an_import_tells_how_far_it_is(mcp: ClientMaker, entry: EntryMaker) -> None:
    entries = [entry() for _ in range(250)]
    request = {"name": "bulkImport", "arguments": {"entries": entries}}

    *reports, response = mcp("writer").messages(
        "tools/call", {**request, "_meta": {"progressToken": "far"}}
    )

    assert response["result"]["structuredContent"]["imported"] == 250
    assert {report["method"] for report in reports} == {"notifications/progress"}
    assert [report["params"]["progress"] for report in reports] == [0, 100, 200, 250]
    assert {report["params"]["total"] for report in reports} == {250}


def test_without_a_token_no_progress_is_sent(mcp: ClientMaker, entry: EntryMaker) -> None:
    request = {"name": "bulkImport", "arguments": {"entries": [entry()]}}

    [response] = mcp("writer").messages("tools/call", request)

    assert response["result"]["structuredContent"]["imported"] == 1
