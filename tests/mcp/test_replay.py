"""Streams that a client lost and opens again: what it missed, of its own session only."""

import asyncio
import re

import pytest
from mcp.server.streamable_http import EventMessage
from mcp_types import JSONRPCMessage, JSONRPCNotification, JSONRPCResponse

from qms.mcp.replay import MAX_BYTES, MAX_EVENTS, RETRY_MS, RecentEvents
from tests.mcp.conftest import SessionMaker
from tests.support.asgi import Answer
from tests.support.house import House
from tests.support.mcp import SessionClient, events

ENTRY = {"kind": "note", "title": "Kept", "body": {"text": "said once"}}


@pytest.fixture(autouse=True)
def _stores(house: House) -> None:
    house.store()
    house.store("shared")


def imported(client: SessionClient) -> Answer:
    """Call a command that is answered by a stream."""
    arguments = {"name": "bulkImport", "arguments": {"entries": [ENTRY]}}
    return client.send("tools/call", arguments)


def first_id(body: bytes) -> str:
    found = re.match(rb"id: (\S+)\r\n", body)
    assert found is not None, body
    return found[1].decode()


def resumed(house: House, client: SessionClient, last_id: str) -> Answer:
    headers = {**client.headers(), "last-event-id": last_id}
    return house.client.request("GET", client.path, headers=headers.items())


def test_a_stream_begins_with_an_id_and_how_long_to_wait(session: SessionMaker) -> None:
    body = imported(session()).body

    start, _, _ = body.partition(b"\r\n\r\n")
    assert first_id(body)
    assert f"retry: {RETRY_MS}".encode() in start
    assert re.search(rb"^data: ?\r?$", start, re.MULTILINE)


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-03-26"])
def test_a_client_of_an_older_revision_gets_messages_only(
    session: SessionMaker, revision: str
) -> None:
    body = imported(session(revision=revision)).body

    assert b"retry:" not in body
    assert body.count(b"data:") == len(events(body)) == 1


def test_a_client_that_lost_its_stream_gets_the_answer(house: House, session: SessionMaker) -> None:
    client = session()
    answer = imported(client)

    again = resumed(house, client, first_id(answer.body))

    assert again.status == 200
    assert events(again.body) == events(answer.body)


def test_a_client_that_has_the_answer_gets_nothing_more(
    house: House, session: SessionMaker
) -> None:
    client = session()
    last_id = re.findall(rb"^id: (\S+)\r$", imported(client).body, re.MULTILINE)[-1]

    again = resumed(house, client, last_id.decode())

    assert events(again.body) == []


def test_an_id_of_another_session_gets_nothing(house: House, session: SessionMaker) -> None:
    other = session()
    for _ in range(3):
        lost = first_id(imported(other).body)

    assert events(resumed(house, session(), lost).body) == []


class Stream:
    """A store of events, and what it replays."""

    def __init__(self) -> None:
        self.store = RecentEvents()
        self.sent: list[EventMessage] = []

    def put(self, stream: str, message: JSONRPCMessage | None) -> str:
        return asyncio.run(self.store.store_event(stream, message))

    def after(self, event_id: str) -> str | None:
        async def send(event: EventMessage) -> None:
            self.sent.append(event)

        self.sent.clear()
        return asyncio.run(self.store.replay_events_after(event_id, send))


def told(text: str = "x") -> JSONRPCNotification:
    return JSONRPCNotification(jsonrpc="2.0", method="notifications/message", params={"t": text})


ANSWER = JSONRPCResponse(jsonrpc="2.0", id=1, result={})


def test_a_stream_that_is_not_answered_goes_on() -> None:
    stream = Stream()
    start = stream.put("1", None)
    stream.put("2", None)
    stream.put("1", told())
    stream.put("2", told("of another"))

    assert stream.after(start) == "1"
    assert [event.message for event in stream.sent] == [told()]
    stream.put("1", ANSWER)
    assert stream.after(start) is None
    assert [event.message for event in stream.sent] == [told(), ANSWER]


def test_what_was_never_started_is_not_kept() -> None:
    stream = Stream()

    plain = stream.put("1", ANSWER)

    assert stream.after(plain) is None


@pytest.mark.parametrize(
    ("messages", "size"), [(MAX_EVENTS, 1), (3, MAX_BYTES // 2)], ids=["events", "bytes"]
)
def test_only_the_newest_events_are_kept(messages: int, size: int) -> None:
    stream = Stream()
    start = stream.put("1", None)
    kept = [stream.put("1", told("x" * size)) for _ in range(messages)]

    assert stream.after(start) is None
    assert stream.sent == []
    assert stream.after(kept[-1]) == "1"
