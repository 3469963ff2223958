"""How calls in sessions are answered: by one document, or by a stream."""

from typing import Any

import pytest

from qms.app.table import TABLE
from qms.commands.call import IMPORT_COMMANDS
from tests.mcp.conftest import SessionMaker
from tests.support.asgi import Answer
from tests.support.house import House
from tests.support.mcp import SESSION_REVISIONS, SessionClient, events

ENTRY = {"kind": "note", "title": "Kept", "body": {"text": "said once"}}
FOLLOWED = {"_meta": {"progressToken": "p"}}


@pytest.fixture(autouse=True)
def _stores(house: House) -> None:
    house.store()
    house.store("shared")


def called(client: SessionClient, name: str, more: Any = None, **arguments: Any) -> Answer:
    return client.send("tools/call", {"name": name, "arguments": arguments, **(more or {})})


def is_stream(answer: Answer) -> bool:
    return answer.headers["content-type"].startswith("text/event-stream")


@pytest.mark.parametrize("revision", SESSION_REVISIONS)
def test_a_brief_call_is_answered_by_one_document(session: SessionMaker, revision: str) -> None:
    client = session(revision=revision)

    stored = called(client, "upsertEntry", entry=ENTRY)

    assert stored.status == 200
    assert stored.headers["content-type"] == "application/json"
    assert stored.headers["mcp-session-id"] == client.session
    entry_id = stored.json["result"]["structuredContent"]["id"]
    assert called(client, "getEntry", id=entry_id).json["result"]["isError"] is False


def test_an_error_of_a_brief_call_is_one_document(session: SessionMaker) -> None:
    answer = called(session(), "getEntry", id="projA:absent")

    assert answer.headers["content-type"] == "application/json"
    assert answer.json["result"]["isError"] is True


def test_a_client_that_follows_the_progress_gets_a_stream_with_the_same_answer(
    session: SessionMaker,
) -> None:
    client = session()
    entry_id = client.call("upsertEntry", entry=ENTRY)["id"]

    brief = called(client, "getEntry", id=entry_id)
    followed = called(client, "getEntry", FOLLOWED, id=entry_id)

    assert is_stream(followed)
    [told] = events(followed.body)
    assert told["result"] == brief.json["result"]


def test_a_long_command_gets_a_stream_and_tells_of_its_progress_only_if_asked(
    session: SessionMaker,
) -> None:
    client = session()

    silent = called(client, "bulkImport", entries=[ENTRY])
    followed = called(client, "bulkImport", FOLLOWED, entries=[ENTRY])

    assert is_stream(silent)
    assert [message.get("method") for message in events(silent.body)] == [None]
    methods = [message.get("method") for message in events(followed.body)]
    assert methods == ["notifications/progress", "notifications/progress", None]


def test_a_brief_call_that_waits_for_its_store_gets_a_stream(house: House) -> None:
    who = house.gate.authenticate(SessionClient(house.client, "reader").key)

    assert house.gate.admit(who, "projA", "listEntries").is_brief
    assert not house.gate.admit(who, "projB", "listEntries").is_brief, "not loaded yet"
    assert not house.gate.admit(who, "projA", "noSuchCommand").is_brief


@pytest.mark.parametrize("params", [None, {}, {"name": 7}, {"name": "getEntry", "_meta": 3}])
def test_a_call_without_a_proper_name_is_refused_as_before(
    session: SessionMaker, params: dict[str, Any] | None
) -> None:
    answer = session().messages("tools/call", params)[-1]

    assert "error" in answer or answer["result"]["isError"]


def test_no_command_that_takes_a_large_body_counts_as_brief() -> None:
    brief = {row.name for row in TABLE if row.brief}

    assert brief
    assert not brief & IMPORT_COMMANDS
