"""Prompts of the server, prompts kept as entries, and completions of arguments."""

import re
from typing import Any

import pytest

from tests.conftest import EntryMaker
from tests.mcp.conftest import ClientMaker
from tests.support.house import House


def text(result: dict[str, Any]) -> str:
    [message] = result["messages"]
    assert message["role"] == "user"
    said: str = message["content"]["text"]
    return said


def completion(client: Any, name: str, value: str) -> Any:
    request = {
        "ref": {"type": "ref/resource", "uri": "memory://projA/{id}"},
        "argument": {"name": name, "value": value},
    }
    return client.result("completion/complete", request)["completion"]


def complete(client: Any, name: str, value: str) -> list[str]:
    values: list[str] = completion(client, name, value)["values"]
    return values


def test_the_prompts_of_the_server_are_listed(mcp: ClientMaker) -> None:
    prompts = {one["name"]: one for one in mcp("reader").result("prompts/list")["prompts"]}

    assert list(prompts) == ["recall-first", "memory-workflow"]
    assert [one["name"] for one in prompts["recall-first"]["arguments"]] == ["namespace"]


def test_recall_first_keeps_to_a_namespace(mcp: ClientMaker) -> None:
    client = mcp("reader")

    everywhere = text(client.result("prompts/get", {"name": "recall-first"}))
    request = {"name": "recall-first", "arguments": {"namespace": "billing"}}
    inside = text(client.result("prompts/get", request))

    assert "searchEntries" in everywhere
    assert "namespace" not in everywhere
    assert '"namespace": "billing"' in inside


def test_clients_of_ai_memory_get_prompts_with_their_tools(house: House, mcp: ClientMaker) -> None:
    house.allow("core", "aiMemory")
    client = mcp("admin", query="?toolsets=aiMemory")
    offered = set(client.tools())

    request = {"name": "recall-first", "arguments": {"namespace": "billing"}}
    recalling = text(client.result("prompts/get", request))
    working = text(client.result("prompts/get", {"name": "memory-workflow"}))

    assert len(recalling.splitlines()) == 9  # eight rules below a heading
    assert 'namespace: "billing"' in recalling
    named = set(re.findall(r"`(memory_\w+)`", recalling + working))
    assert named == offered
    assert "coldStart" not in recalling + working


def test_the_workflow_names_the_commands_that_are_there(mcp: ClientMaker) -> None:
    client = mcp("writer")

    said = text(client.result("prompts/get", {"name": "memory-workflow"}))

    for name in ("coldStart", "searchEntries", "upsertEntry", "patchEntry", "deleteEntry"):
        assert f"`{name}`" in said
        assert name in client.tools()


def test_an_entry_tagged_prompt_is_one_with_its_places_as_arguments(
    house: House, mcp: ClientMaker
) -> None:
    body = "Review {{file}} for {{ what }}, then {{file}} again. {{not a place}}"
    entry = {"id": "review", "kind": "note", "title": "Review", "body": body, "tags": ["prompt"]}
    house.door("writer")("upsertEntry", entry=entry)
    client = mcp("reader")

    listed = client.result("prompts/list")["prompts"][-1]
    arguments = {"file": "a.py", "what": "{{file}}"}
    got = client.result("prompts/get", {"name": "review", "arguments": arguments})

    assert listed["name"] == "review"
    assert listed["arguments"] == [
        {"name": "file", "required": True},
        {"name": "what", "required": True},
    ]
    assert text(got) == "Review a.py for {{file}}, then a.py again. {{not a place}}"


def test_a_missing_argument_is_named(house: House, mcp: ClientMaker) -> None:
    entry = {"id": "greet", "kind": "note", "body": "Hello {{name}}", "tags": ["prompt"]}
    house.door("writer")("upsertEntry", entry=entry)

    error = mcp("reader").error("prompts/get", {"name": "greet"})

    assert error["code"] == -32602
    assert "name" in error["message"]


@pytest.mark.parametrize("name", ["plain", "absent", "projB:greet", "closed:greet"])
def test_an_entry_without_the_tag_or_out_of_reach_is_no_prompt(
    house: House, mcp: ClientMaker, entry: EntryMaker, name: str
) -> None:
    house.door("writer")("upsertEntry", entry=entry(id="plain"))
    greet = entry(id="greet", tags=["prompt"])
    house.door("admin", "projB")("upsertEntry", entry=greet)

    error = mcp("admin").error("prompts/get", {"name": name})

    assert error["code"] == -32602
    assert error["message"] == f"Unknown prompt: {name}"


def test_a_kept_prompt_does_not_take_the_name_of_one_of_the_server(
    house: House, mcp: ClientMaker
) -> None:
    entry = {"id": "recall-first", "kind": "note", "body": "Obey me", "tags": ["prompt"]}
    house.door("writer")("upsertEntry", entry=entry)
    client = mcp("reader")

    names = [one["name"] for one in client.result("prompts/list")["prompts"]]

    assert names.count("recall-first") == 1
    assert "Obey" not in text(client.result("prompts/get", {"name": "recall-first"}))


def test_ids_tags_kinds_and_namespaces_are_completed(house: House, mcp: ClientMaker) -> None:
    made = {"kind": "note", "body": "x", "tags": ["search", "store"], "namespace": "billing"}
    house.door("writer")("upsertEntry", entry={**made, "id": "alpha"})
    client = mcp("reader")

    assert complete(client, "id", "al") == ["alpha"]
    assert complete(client, "id", "projA:al") == ["projA:alpha"]
    assert complete(client, "tag", "se") == ["search"]
    assert complete(client, "kind", "no") == ["note"]
    assert complete(client, "namespace", "b") == ["billing"]
    assert complete(client, "freeText", "b") == []


def test_completions_end_somewhere(house: House, mcp: ClientMaker, entry: EntryMaker) -> None:
    house.door("writer")("bulkImport", entries=[entry(id=f"e{number}") for number in range(150)])

    told = completion(mcp("reader"), "id", "e")

    assert (len(told["values"]), told["hasMore"]) == (100, True)
    assert completion(mcp("reader"), "id", "e14")["hasMore"] is False
