"""Who wrote a memory: in which order that is found out, and that it stays; and capabilities."""

from typing import Any

import msgspec
import pytest

from qms.config.settings import Toolset
from qms.version import __version__
from tests.support.house import Door, House, key_of


def written(house: House, entry: dict[str, Any], *headers: tuple[str, str]) -> dict[str, Any]:
    body = msgspec.json.encode({"entry": {"kind": "note", "body": "text", **entry}})
    key, kind = ("x-api-key", key_of("writer")), ("content-type", "application/json")
    sent = [key, kind, ("content-length", str(len(body))), *headers]
    made = house.client.request("POST", "/api/v1/projA/upsertEntry", headers=sent, chunks=[body])
    assert made.status == 200, made.body
    found: dict[str, Any] = house.door("writer")("getEntry", id=made.json["id"])["entry"]
    return found


def test_the_argument_comes_before_the_header_and_the_header_before_the_user(house: House) -> None:
    header = ("x-agent-id", "ai:header")

    assert written(house, {"agentId": "ai:given", "body": "1"}, header)["agentId"] == "ai:given"
    assert written(house, {"body": "2"}, header)["agentId"] == "ai:header"
    assert written(house, {"body": "3"})["agentId"] == "writer"


@pytest.mark.parametrize("given", ["a b", "ä", "x" * 129, "a\\b"])
def test_an_id_outside_the_pattern_is_refused(as_writer: Door, given: str) -> None:
    entry = {"kind": "note", "body": "x", "agentId": given}

    assert as_writer.fails("upsertEntry", entry=entry).details["field"] == "agentId"


@pytest.mark.parametrize("given", ["a-Z_0:@./", "x" * 128])
def test_an_id_inside_it_is_taken(house: House, given: str) -> None:
    assert written(house, {"agentId": given})["agentId"] == given


def test_the_author_stays_through_update_patch_and_duplicate(house: House) -> None:
    door = house.door("admin")
    made = written(house, {"id": "x", "agentId": "ai:first"})["id"]
    door("upsertEntry", entry={"id": made, "kind": "note", "body": "new", "agentId": "ai:second"})
    door("patchEntry", id=made, patch={"agentId": "ai:third", "tags": ["a"]})
    door("promoteEntry", id=made)

    assert door("getEntry", id=made)["entry"]["agentId"] == "ai:first"


def test_the_author_is_a_filter_of_lists_searches_and_recall(house: House) -> None:
    one = written(house, {"agentId": "ai:one", "body": "the harbour"})["id"]
    written(house, {"agentId": "ai:two", "body": "the harbour log"})
    door, wanted = house.door("reader"), {"agentId": "ai:one"}
    listed = door("listEntries", filter=wanted, include="ids")["items"]
    searched = door("searchEntries", query={"text": "harbour", "filter": wanted})["results"]
    recalled = door("recall", query="harbour", filter=wanted)["memories"]

    assert [item["id"] for item in listed] == [one]
    assert [memory["id"] for memory in recalled] == [one]
    assert [result["entry"]["id"] for result in searched] == [one]


def test_capabilities_say_what_serves_and_not_what_was_asked_for(house: House) -> None:
    house.reconfigure(
        lambda text: text + '\n[global.summarizer]\nmodel = "llm"\n[global.limits]\ntags = 7\n'
    )
    house.indexer.embedder()
    found = house.door("reader")("capabilities")

    assert (found["version"], found["summarizer"], found["llm"]) == (
        __version__,
        "extractive",
        None,
    )
    assert (found["embedder"]["kind"], found["reranker"]) == ("hash", None)
    assert found["limits"]["tags"] == 7
    assert found["toolsets"] == sorted(Toolset)
    assert found["features"] == {
        "semanticSearch": False,
        "reranking": False,
        "sharedStore": True,
        "archiveExpired": True,
    }
    assert not house.door("reader", "projB")("capabilities")["features"]["sharedStore"]
