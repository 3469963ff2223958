"""The door of `/mcp/{project}`: who comes in, with what, and what is refused before the SDK."""

from typing import Any

import msgspec
import pytest

from tests.conftest import EntryMaker
from tests.mcp.conftest import ClientMaker, SessionMaker
from tests.support.asgi import Answer, AsgiClient
from tests.support.house import House, failure, key_of
from tests.support.mcp import MODERN, SESSION_REVISIONS, McpClient

LIMIT = 4096


def post(client: AsgiClient, body: bytes, *, project: str = "projA", **headers: str) -> Answer:
    usual = {
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "authorization": f"Bearer {key_of('admin')}",
    }
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return client.request(
        "POST", f"/mcp/{project}", headers={**usual, **named}.items(), chunks=[body]
    )


def test_instructions_name_the_help_and_where_to_start(
    mcp: ClientMaker, session: SessionMaker
) -> None:
    for said in (mcp().result("server/discover"), session().began):
        for word in ("coldStart", "`recall`", "`remember`", "/docs/agent-usage"):
            assert word in said["instructions"]


def test_instructions_fit_the_tools_that_a_client_gets(
    house: House, mcp: ClientMaker, session: SessionMaker
) -> None:
    house.allow("core", "lifecycle", "aiMemory", "serverMemory")
    beginnings = {"core": "coldStart", "aiMemory": "memory_recall", "serverMemory": "search_nodes"}

    for toolsets in ("core", "aiMemory", "serverMemory", "core,aiMemory", "lifecycle"):
        query = f"?toolsets={toolsets}"
        for said in (mcp(query=query).result("server/discover"), session(query=query).began):
            text = said["instructions"]
            named = {name for name, word in beginnings.items() if word in text}
            assert named == set(toolsets.split(",")) - {"lifecycle"}
            assert "/docs/agent-usage" in text
            assert "projA" in text


def test_discovery_names_the_newest_revision_and_what_can_be_had(mcp: ClientMaker) -> None:
    discovered = mcp().result("server/discover")

    assert discovered["supportedVersions"] == ["2026-07-28"]
    assert discovered["capabilities"]["resources"] == {"listChanged": True, "subscribe": True}
    assert {"tools", "prompts", "completions"} <= set(discovered["capabilities"])


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_a_closed_and_an_absent_project_give_the_same_bytes(
    client: AsgiClient, method: str
) -> None:
    headers = {"authorization": f"Bearer {key_of('admin')}", "content-type": "text/plain"}

    closed, absent = (
        client.request(method, f"/mcp/{project}", headers=headers.items(), chunks=[b"no JSON"])
        for project in ("closed", "absent")
    )

    assert closed.status == 404
    assert closed == absent


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_without_a_key_nothing_is_said_of_any_project(client: AsgiClient, method: str) -> None:
    answers = [client.request(method, f"/mcp/{name}") for name in ("projA", "closed", "absent")]

    assert {answer.status for answer in answers} == {401}
    assert len({answer.body for answer in answers}) == 1
    assert answers[0].headers["www-authenticate"] == "Bearer"


@pytest.mark.attack(26)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_a_session_of_the_admin_page_opens_nothing(client: AsgiClient, method: str) -> None:
    headers = {"cookie": "qms_session=abc", "x-csrf-token": "abc"}

    assert client.request(method, "/mcp/projA", headers=headers.items()).status == 401


def test_other_methods_are_not_taken(client: AsgiClient) -> None:
    assert failure(client.request("PUT", "/mcp/projA")).status == 405


def test_a_body_that_is_no_json_is_refused_by_its_type(client: AsgiClient) -> None:
    assert failure(post(client, b"{}", content_type="text/plain")).status == 415


@pytest.mark.attack(46)
@pytest.mark.parametrize(
    "body",
    [
        b"[" + b",".join([b'{"jsonrpc":"2.0","id":1,"method":"ping"}'] * 10_000) + b"]",
        b'{"jsonrpc":"2.0","id":{"a":1},"method":"tools/list","params":{}}',
        b'{"id":1,"method":"tools/list"}',
        b'{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}',
        b'{"jsonrpc":"2.0","id":1,"method":5}',
        b'{"jsonrpc":"2.0","id":NaN,"method":"tools/list"}',
        b'"tools/list"',
        b"{" * 100_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b"",
        b"\xff\xfe",
    ],
    ids=[
        "batch",
        "object-id",
        "bare",
        "twice",
        "number",
        "nan",
        "text",
        "open",
        "deep",
        "nothing",
        "bytes",
    ],
)
@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25"])
def test_what_is_no_message_is_refused(client: AsgiClient, body: bytes, revision: str) -> None:
    answer = post(client, body, mcp_protocol_version=revision, mcp_method="tools/list")

    assert answer.status == 400
    assert answer.json["error"]["code"] in (-32700, -32600, -32602)
    assert McpClient(client, "reader").call("health")["status"]


@pytest.mark.attack(46)
@pytest.mark.attack(67)
@pytest.mark.parametrize("revision", [MODERN, *SESSION_REVISIONS])
@pytest.mark.parametrize(
    "message",
    [
        {"id": 1, "method": "initialize"},
        {"jsonrpc": "x" * 5000, "id": 1, "method": "initialize"},
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": ["hushed"]},
        {"jsonrpc": "2.0", "id": {"a": "hushed"}, "method": "initialize"},
        {"jsonrpc": "2.0", "id": True, "method": "initialize"},
        {"jsonrpc": "2.0", "id": 1, "method": ["hushed"]},
    ],
)
def test_what_is_no_message_is_told_so_in_one_line_whatever_the_revision(
    client: AsgiClient, revision: str, message: dict[str, Any]
) -> None:
    answer = post(client, msgspec.json.encode(message), mcp_protocol_version=revision)

    assert (answer.status, answer.json["error"]["code"]) == (400, -32600)
    assert answer.json["error"]["message"].startswith("not a JSON-RPC message: ")
    assert b"hushed" not in answer.body
    assert len(answer.body) < 300


@pytest.mark.attack(46)
def test_an_unknown_revision_is_told_which_are_known(client: AsgiClient) -> None:
    body = msgspec.json.encode({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})

    answer = post(client, body, mcp_protocol_version="1999-01-01", mcp_method="tools/list")

    assert answer.status == 400
    assert "error" in answer.json


def test_a_large_message_is_taken_only_when_it_imports(
    house: House, mcp: ClientMaker, entry: EntryMaker
) -> None:
    house.set_limits(bodyBytes=LIMIT)
    long = entry(body={"statement": "x" * LIMIT})
    client = mcp("writer")

    refused = failure(
        client.send("tools/call", {"name": "upsertEntry", "arguments": {"entry": long}})
    )
    imported = client.call("bulkImport", entries=[long])

    assert (refused.status, refused.code) == (413, "tooLarge")
    assert imported["imported"] == 1


def test_an_import_has_its_own_limit(house: House, mcp: ClientMaker, entry: EntryMaker) -> None:
    house.set_limits(bodyBytes=LIMIT // 2, importBytes=LIMIT)
    request: dict[str, Any] = {
        "name": "bulkImport",
        "arguments": {"entries": [entry(body={"statement": "x" * LIMIT})]},
    }

    assert failure(mcp("writer").send("tools/call", request)).status == 413


def test_a_message_above_what_the_sdk_takes_by_default_is_imported(
    mcp: ClientMaker, entry: EntryMaker
) -> None:
    entries = [entry(body={"statement": "x" * 60_000}) for _ in range(90)]

    assert mcp("writer").call("bulkImport", entries=entries)["imported"] == 90


def test_an_entry_may_be_as_deep_as_over_plain_json(mcp: ClientMaker, house: House) -> None:
    def nested(depth: int) -> Any:
        return 1 if depth == 0 else {"a": nested(depth - 1)}

    def entry(depth: int) -> Any:
        return {"kind": "note", "body": "deep", "metadata": nested(depth)}

    deepest = 64 - 3
    writer, client = house.door("writer"), mcp("writer")

    assert writer.send("upsertEntry", {"entry": entry(deepest)}).status == 200
    assert writer.send("upsertEntry", {"entry": entry(deepest + 3)}).status == 400
    assert client.call("upsertEntry", entry=entry(deepest))["duplicateOf"]
    request = {"name": "upsertEntry", "arguments": {"entry": entry(deepest + 3)}}
    assert client.send("tools/call", request).status == 400
