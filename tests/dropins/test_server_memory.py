"""The tools of the MCP memory server, with its documented examples, over real entries."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qms.memory.entities import entity_local_id, relation_document, relation_text
from qms.memory.entry import LOCAL_ID
from qms.memory.relations import RELATION_TYPE
from tests.dropins.conftest import Tool, ToolMaker
from tests.support.house import Clock, Door, House
from tests.support.mcp import McpClient, SessionClient, events

JOHN = {"name": "John_Smith", "entityType": "person", "observations": ["Speaks fluent Spanish"]}
WORKS_AT = {"from": "John_Smith", "to": "Anthropic", "relationType": "works_at"}
EMPTY: dict[str, list[Any]] = {"entities": [], "relations": []}

UPDATED = "notifications/resources/updated"


@pytest.fixture
def tool(tools: ToolMaker) -> Tool:
    return tools("serverMemory", "writer")


def graph(tool: Tool) -> Any:
    return tool("read_graph").content


def entity(name: str, *observations: str, kind: str = "thing") -> dict[str, Any]:
    return {"name": name, "entityType": kind, "observations": list(observations)}


def relation(source: str, target: str, kind: str = "knows") -> dict[str, str]:
    return {"from": source, "to": target, "relationType": kind}


def test_the_client_sees_exactly_the_nine_tools(house: House, tool: Tool) -> None:
    listed = McpClient(house.client, "admin", query="?toolsets=serverMemory").tools()

    assert sorted(listed) == [
        "add_observations",
        "create_entities",
        "create_relations",
        "delete_entities",
        "delete_observations",
        "delete_relations",
        "open_nodes",
        "read_graph",
        "search_nodes",
    ]


def test_the_graph_is_a_resource_like_that_of_the_reference(house: House, tool: Tool) -> None:
    tool("create_entities", entities=[JOHN])
    client = McpClient(house.client, "reader", query="?toolsets=serverMemory")

    first = client.result("resources/list")["resources"][0]
    [read] = client.result("resources/read", {"uri": first["uri"]})["contents"]

    assert (first["uri"], first["name"]) == ("memory://knowledge-graph", "knowledge-graph")
    assert (first["title"], first["mimeType"]) == ("Knowledge Graph", "application/json")
    assert json.loads(read["text"]) == graph(tool) == {"entities": [JOHN], "relations": []}
    other = McpClient(house.client, "reader")
    assert first["uri"] not in {one["uri"] for one in other.result("resources/list")["resources"]}
    assert other.error("resources/read", {"uri": first["uri"]})["message"] == "Resource not found"


def test_whoever_follows_the_graph_is_told_of_its_changes(house: House, tool: Tool) -> None:
    client = SessionClient(house.client, "reader", query="?toolsets=serverMemory")
    stream = client.listen()
    client.result("resources/subscribe", {"uri": "memory://knowledge-graph"})

    calls: list[tuple[str, dict[str, Any]]] = [
        ("create_entities", {"entities": [JOHN]}),
        ("add_observations", {"observations": [{"entityName": JOHN["name"], "contents": ["x"]}]}),
        ("delete_entities", {"entityNames": [JOHN["name"]]}),
    ]
    for name, arguments in calls:
        tool(name, **arguments)
        told: list[Any] = []
        while not told:
            told = [one for one in events(stream.next()) if one.get("method") == UPDATED]
        assert told[0]["params"] == {"uri": "memory://knowledge-graph"}
    stream.leave()


def test_the_documented_examples_work_one_after_the_other(tool: Tool) -> None:
    made = tool("create_entities", entities=[JOHN])
    assert made.content == {"entities": [JOHN]}
    assert made.text == json.dumps([JOHN], indent=2)

    linked = tool("create_relations", relations=[WORKS_AT])
    assert linked.content == {"relations": [WORKS_AT]}
    assert linked.text == json.dumps([WORKS_AT], indent=2)

    contents = ["Speaks fluent Spanish", "Graduated in 2019", "Prefers morning meetings"]
    added = tool(
        "add_observations", observations=[{"entityName": "John_Smith", "contents": contents}]
    )
    results = [{"entityName": "John_Smith", "addedObservations": contents[1:]}]
    assert added.content == {"results": results}
    assert json.loads(added.text) == results

    whole = {"entities": [{**JOHN, "observations": contents}], "relations": [WORKS_AT]}
    assert graph(tool) == whole
    assert tool("read_graph").text == json.dumps(whole, indent=2)


def test_the_three_deletions_say_so_in_the_words_of_the_reference(tool: Tool) -> None:
    tool("create_entities", entities=[JOHN])
    tool("create_relations", relations=[WORKS_AT])
    deletions = [{"entityName": "John_Smith", "observations": ["Speaks fluent Spanish", "no"]}]

    for name, what, arguments in (
        ("delete_observations", "Observations", {"deletions": deletions}),
        ("delete_relations", "Relations", {"relations": [WORKS_AT]}),
        ("delete_entities", "Entities", {"entityNames": ["John_Smith"]}),
    ):
        message = f"{what} deleted successfully"
        for _ in range(2):
            told = tool(name, **arguments)
            assert told.text == message
            assert told.content == {"success": True, "message": message}
    assert graph(tool) == EMPTY


@pytest.mark.parametrize(
    "name",
    [
        "Jo Hansen",
        " padded ",
        "日本語 の 名前",
        "naïve café",
        "a/b:c?d",
        "😀",
        "line\nbreak",
        "Ω" * 250,
    ],
)
def test_a_name_may_have_spaces_and_any_character(house: House, tool: Tool, name: str) -> None:
    tool("create_entities", entities=[entity(name, "seen")])
    tool("create_relations", relations=[relation(name, "home"), relation("home", name)])

    opened = tool("open_nodes", names=[name]).content

    assert opened["entities"] == [entity(name, "seen")]
    assert opened["relations"] == [relation(name, "home"), relation("home", name)]
    record = next(one for one in house.store().view.records.values() if one.header.title == name)
    assert LOCAL_ID.fullmatch(record.header.id.partition(":")[2])


def test_names_that_differ_in_case_only_are_two(tool: Tool) -> None:
    tool("create_entities", entities=[entity("rust", "a mould"), entity("Rust", "a language")])
    tool("delete_entities", entityNames=["rust"])

    assert graph(tool)["entities"] == [entity("Rust", "a language")]


def test_a_name_that_is_there_is_left_as_it_is(tool: Tool) -> None:
    tool("create_entities", entities=[JOHN])
    again = tool("create_entities", entities=[{**JOHN, "observations": ["Other"]}, entity("New")])

    assert again.content["entities"] == [entity("New")]
    assert graph(tool)["entities"] == [JOHN, entity("New")]


def test_entities_keep_the_order_in_which_they_were_made(house: House, tool: Tool) -> None:
    names = [f"node {number}" for number in range(30)]
    tool("create_entities", entities=[entity(name) for name in names])
    before = [one["name"] for one in graph(tool)["entities"]]
    house.store().fold()

    assert before == names
    assert [one["name"] for one in graph(tool)["entities"]] == names


def test_a_relation_may_name_entities_that_come_later(tool: Tool) -> None:
    tool("create_relations", relations=[WORKS_AT])
    assert graph(tool) == {"entities": [], "relations": [WORKS_AT]}

    made = tool("create_entities", entities=[JOHN])

    assert made.content["entities"] == [JOHN]
    assert graph(tool) == {"entities": [JOHN], "relations": [WORKS_AT]}
    tool("delete_relations", relations=[WORKS_AT])
    assert graph(tool) == {"entities": [JOHN], "relations": []}


def test_what_only_stands_for_an_entity_leaves_nothing_behind(house: House, tool: Tool) -> None:
    tool("create_relations", relations=[WORKS_AT])
    tool("delete_relations", relations=[WORKS_AT])

    assert len(house.store().view) == 0
    assert house.store().archive.entries() == []


def test_observations_of_an_entity_that_nobody_made_are_refused(tool: Tool) -> None:
    tool("create_entities", entities=[JOHN])
    tool("create_relations", relations=[WORKS_AT])
    observations = [
        {"entityName": "John_Smith", "contents": ["first"]},
        {"entityName": "Anthropic", "contents": ["second"]},
    ]

    refused = tool("add_observations", observations=observations)

    assert refused.is_error
    assert refused.content["error"]["code"] == "notFound"
    assert "Entity with name Anthropic not found" in refused.text
    assert graph(tool)["entities"] == [JOHN]


def test_deleting_an_entity_takes_its_relations_along_for_good(tool: Tool) -> None:
    tool("create_entities", entities=[entity("a"), entity("b"), entity("c")])
    tool("create_relations", relations=[relation("a", "b"), relation("b", "c"), relation("c", "a")])
    tool("delete_entities", entityNames=["b", "nobody"])
    tool("create_entities", entities=[entity("b")])

    assert graph(tool)["relations"] == [relation("c", "a")]


@pytest.mark.parametrize(
    "kind", ["works at", "ist Freund von", "认识", "", "x" * 200, "a|b", "supersedes"]
)
def test_any_text_is_a_type_of_relation_and_comes_back_as_it_was(tool: Tool, kind: str) -> None:
    tool("create_entities", entities=[entity("a"), entity("b")])
    other = relation("a", "b", "works_at")
    tool("create_relations", relations=[relation("a", "b", kind), other])

    assert graph(tool)["relations"] == [relation("a", "b", kind), other]
    assert tool("create_relations", relations=[relation("a", "b", kind)]).content["relations"] == []
    tool("delete_relations", relations=[relation("a", "b", kind)])
    assert graph(tool)["relations"] == [other]


def test_a_relation_to_itself_is_left_out_and_named_and_the_others_are_made(tool: Tool) -> None:
    tool("create_entities", entities=[entity("a"), entity("b")])
    wanted = [relation("a", "b"), relation("a", "a"), relation("lonely", "lonely", "is")]

    told = tool("create_relations", relations=wanted)

    note = "an entity cannot relate to itself, left out: a knows itself, lonely is itself"
    assert not told.is_error
    assert told.content == {"relations": [relation("a", "b")], "note": note}
    assert json.loads(told.text) == told.content
    assert graph(tool)["relations"] == [relation("a", "b")]
    assert [one["name"] for one in graph(tool)["entities"]] == ["a", "b"]


def test_many_relations_that_are_left_out_are_not_all_named(tool: Tool) -> None:
    wanted = [relation(f"n{number}", f"n{number}") for number in range(12)]

    note = tool("create_relations", relations=wanted).content["note"]

    assert note.endswith("n9 knows itself, and 2 more")


@given(st.text(), st.text())
def test_types_of_relations_round_trip_and_stay_apart(first: str, second: str) -> None:
    made = [relation_document("p:x", text) for text in (first, second)]

    assert all(RELATION_TYPE.fullmatch(one["type"]) for one in made)
    assert [relation_text(one["type"], one.get("metadata")) for one in made] == [first, second]
    assert (made[0]["type"] == made[1]["type"]) == (first == second)


@given(st.text())
def test_a_name_always_has_the_same_id(name: str) -> None:
    assert LOCAL_ID.fullmatch(entity_local_id(name))
    assert entity_local_id(name) == entity_local_id(name)


def test_search_looks_at_names_types_and_observations_without_case(tool: Tool) -> None:
    tool(
        "create_entities",
        entities=[JOHN, entity("Spanish omelette"), entity("x", kind="SPANISH"), entity("y")],
    )
    tool("create_relations", relations=[relation("y", "x"), relation("y", "John_Smith")])

    found = tool("search_nodes", query="sPaNiSh").content

    assert [one["name"] for one in found["entities"]] == ["John_Smith", "Spanish omelette", "x"]
    assert found["relations"] == [relation("y", "x"), relation("y", "John_Smith")]
    assert tool("search_nodes", query="nowhere").content == EMPTY


def test_a_large_graph_is_bounded_and_says_so(house: House, tool: Tool, clock: Clock) -> None:
    house.set_limits(graphNodes=3)
    for number in range(5):
        clock.move(seconds=1)
        tool("create_entities", entities=[entity(f"n{number}")])
    tool("create_relations", relations=[relation("n0", f"n{number}") for number in range(1, 5)])

    read = graph(tool)

    assert [one["name"] for one in read["entities"]] == ["n0", "n3", "n4"]
    assert read["note"] == (
        "only the 3 entities that were changed last, of 5: look for the others with search_nodes"
    )
    assert tool("open_nodes", names=["n1"]).content["entities"] == [entity("n1")]


def test_the_number_of_relations_in_an_answer_is_bounded_too(house: House, tool: Tool) -> None:
    house.set_limits(graphNodes=2)
    tool("create_relations", relations=[relation("a", f"b{number}") for number in range(25)])

    assert len(graph(tool)["relations"]) == 20
    assert graph(tool)["note"].startswith("only 20 relations, of 25")


def test_entities_are_entries_like_all_others(tool: Tool, as_writer: Door) -> None:
    as_writer(
        "upsertEntry",
        entry={
            "kind": "entity",
            "title": "By another door",
            "namespace": "people",
            "body": {"entityType": "person", "observations": ["first"]},
        },
    )
    tool(
        "add_observations",
        observations=[{"entityName": "By another door", "contents": ["second"]}],
    )

    assert graph(tool)["entities"] == [entity("By another door", "first", "second", kind="person")]
    [found] = as_writer("listEntries", filter={"kinds": ["entity"]}, include="full")["items"]
    assert found["body"]["observations"] == ["first", "second"]
    assert tool("create_entities", entities=[entity("By another door")]).content["entities"] == []


def test_a_renamed_entity_makes_its_name_free(tool: Tool, as_writer: Door) -> None:
    tool("create_entities", entities=[entity("old")])
    [found] = as_writer("listEntries")["items"]
    as_writer("patchEntry", id=found["id"], patch={"title": "new"})

    tool("create_entities", entities=[entity("old", "another")])

    assert graph(tool)["entities"] == [entity("new"), entity("old", "another")]


def test_every_tool_is_a_command_of_the_api_too(tool: Tool, as_writer: Door) -> None:
    assert as_writer("create_entities", entities=[JOHN]) == {"entities": [JOHN]}
    assert as_writer("create_relations", relations=[WORKS_AT]) == {"relations": [WORKS_AT]}
    assert as_writer("read_graph") == {"entities": [JOHN], "relations": [WORKS_AT]}
    assert as_writer("delete_entities", entityNames=["John_Smith"])["success"]


def test_a_call_is_one_change_whole_or_not_at_all(house: House, tool: Tool) -> None:
    before = house.store().view

    refused = tool("create_entities", entities=[JOHN, entity("y" * 600)])
    itself = tool("create_relations", relations=[WORKS_AT, relation("a", "")])

    assert refused.content["error"]["details"]["limit"] == "titleBytes"
    assert itself.content["error"]["details"]["field"] == "relations[1].to"
    assert house.store().view is before
    tool("create_entities", entities=[JOHN, entity("z")])
    assert house.store().view.sequence == before.sequence + 1


@pytest.mark.parametrize("name", ["", "  "])
def test_an_empty_name_is_refused_by_its_place(tool: Tool, name: str) -> None:
    refused = tool("create_entities", entities=[JOHN, entity(name)])

    assert refused.content["error"]["details"]["field"] == "entities[1].name"


def test_a_writer_changes_no_canonical_entity(tool: Tool, as_admin: Door) -> None:
    tool("create_entities", entities=[JOHN, entity("b")])
    tool("create_relations", relations=[relation("John_Smith", "b")])
    found = as_admin("listEntries", filter={"kinds": ["entity"]})["items"]
    john = next(one["id"] for one in found if one["title"] == "John_Smith")
    as_admin("patchEntry", id=john, patch={"curationTier": "canonical"})

    observations = [{"entityName": "John_Smith", "contents": ["x"]}]
    for refused in (
        tool("add_observations", observations=observations),
        tool("create_relations", relations=[relation("John_Smith", "c")]),
        tool("delete_entities", entityNames=["John_Smith"]),
    ):
        assert refused.content["error"]["code"] == "notAllowed"
    tool("delete_entities", entityNames=["b"])
    assert graph(tool) == {"entities": [JOHN], "relations": []}


def test_an_expired_entity_is_gone(tool: Tool, as_writer: Door, clock: Clock) -> None:
    body = {"observations": ["soon over"]}
    as_writer("upsertEntry", entry={"kind": "entity", "title": "t", "body": body, "ttlSeconds": 60})
    clock.move(seconds=60)

    assert graph(tool) == EMPTY
    assert tool("create_entities", entities=[entity("t")]).content["entities"] == [entity("t")]


def test_secrets_follow_the_policy_of_the_project(house: House, tool: Tool) -> None:
    key = "AKIA" + "IOSFODNN7EXAMPL3"
    house.reconfigure(
        lambda text: text.replace('slug = "projA"', 'slug = "projA"\nsecrets = "redact"')
    )

    made = tool("create_entities", entities=[entity("vault", f"key {key}")])

    assert key not in made.text
    assert key not in tool("read_graph").text
