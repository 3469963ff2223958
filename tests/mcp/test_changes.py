"""Changes: who follows an entry or a list is told of every commit, and nobody else."""

from typing import Any

import msgspec
import pytest

from qms.memory.access import LOCAL_ADMIN
from tests.conftest import EntryMaker
from tests.mcp.conftest import ClientMaker, SessionMaker
from tests.support.asgi import AnswerStream
from tests.support.house import House
from tests.support.mcp import events

UPDATED = "notifications/resources/updated"
LISTS = {
    "notifications/resources/list_changed",
    "notifications/prompts/list_changed",
    "notifications/tools/list_changed",
}


def heard(stream: AnswerStream, method: str) -> dict[str, Any]:
    """Return the parameters of the next notification of a method on a stream."""
    while True:
        for message in events(stream.next()):
            if message.get("method") == method:
                params: dict[str, Any] = message.get("params", {})
                return params


def methods(body: bytes) -> list[str]:
    return [message["method"] for message in events(body) if "method" in message]


@pytest.mark.parametrize("uri", ["memory://projA/projA:one", "memory://projA/one"])
def test_a_session_that_follows_an_entry_is_told_of_its_change(
    house: House, session: SessionMaker, entry: EntryMaker, uri: str
) -> None:
    writer, client = house.door("writer"), session("reader")
    writer("upsertEntry", entry=entry(id="one"))
    stream = client.listen()
    client.result("resources/subscribe", {"uri": uri})

    writer("patchEntry", id="one", patch={"title": "Changed"})

    assert heard(stream, UPDATED) == {"uri": uri}
    stream.leave()


def test_a_session_that_unfollowed_an_entry_is_told_of_lists_only(
    house: House, session: SessionMaker, entry: EntryMaker
) -> None:
    client = session("reader")
    stream = client.listen()
    client.result("resources/subscribe", {"uri": "memory://projA/one"})
    client.result("resources/unsubscribe", {"uri": "memory://projA/one"})

    house.door("writer")("upsertEntry", entry=entry(id="one", tags=["prompt"]))

    heard(stream, "notifications/prompts/list_changed")
    stream.leave()
    assert UPDATED not in methods(stream.result().body)


def test_lists_change_when_entries_come_and_go(
    house: House, session: SessionMaker, entry: EntryMaker
) -> None:
    stream = session("reader").listen()

    house.door("writer")("upsertEntry", entry=entry(id="one"))
    heard(stream, "notifications/resources/list_changed")
    house.door("writer")("deleteEntry", id="one")
    heard(stream, "notifications/resources/list_changed")

    stream.leave()


def test_tools_may_have_changed_when_the_configuration_has(
    house: House, session: SessionMaker
) -> None:
    stream = session("reader").listen()

    slug = 'slug = "projA"\n'
    house.reconfigure(lambda text: text.replace(slug, f'{slug}name = "A"\n'))

    heard(stream, "notifications/tools/list_changed")
    stream.leave()


def test_the_newest_revision_listens_to_what_it_asks_for(
    house: House, mcp: ClientMaker, entry: EntryMaker
) -> None:
    writer = house.door("writer")
    writer("upsertEntry", entry=entry(id="one"))
    wanted = {"resourceSubscriptions": ["memory://projA/one"]}
    stream = mcp("reader").open("subscriptions/listen", {"notifications": wanted})
    assert heard(stream, "notifications/subscriptions/acknowledged")["notifications"] == wanted

    writer("upsertEntry", entry=entry(id="two"))
    writer("patchEntry", id="one", patch={"title": "Changed"})

    assert heard(stream, UPDATED)["uri"] == "memory://projA/one"
    stream.leave()
    assert LISTS & set(methods(stream.result().body)) == set()


def test_a_stream_ends_with_its_key(house: House, mcp: ClientMaker) -> None:
    wanted = {"resourcesListChanged": True}
    stream = mcp("reader").open("subscriptions/listen", {"notifications": wanted})
    heard(stream, "notifications/subscriptions/acknowledged")

    house.reconfigure(lambda text: f'{text}\n[permissions.projA]\nreader = "none"\n')

    assert "result" in events(stream.result().body)[-1]


@pytest.mark.attack(4)
def test_a_stream_ends_with_its_key_although_its_user_has_another(
    house: House, mcp: ClientMaker
) -> None:
    services = house.gate
    made = services.call(LOCAL_ADMIN, None, "createKey", {"user": "reader"})
    ended, kept = mcp("reader"), mcp("reader")
    kept.key = made.key
    wanted = {"notifications": {"toolsListChanged": True}}
    streams = [client.open("subscriptions/listen", wanted) for client in (ended, kept)]
    for stream in streams:
        heard(stream, "notifications/subscriptions/acknowledged")

    key_id = services.authenticate(ended.key).key_id
    services.call(LOCAL_ADMIN, None, "revokeKey", {"id": key_id})

    assert "result" in events(streams[0].result().body)[-1]
    heard(streams[1], "notifications/tools/list_changed")
    streams[1].leave()
    assert all("result" not in message for message in events(streams[1].result().body))


def test_closing_ends_a_stream_with_its_result(house: House, mcp: ClientMaker) -> None:
    wanted = {"notifications": {"toolsListChanged": True}}
    stream = mcp("reader").open("subscriptions/listen", wanted)
    heard(stream, "notifications/subscriptions/acknowledged")

    async def close() -> None:
        house.endpoints.close()

    house.client.run(close())

    assert "result" in events(stream.result().body)[-1]


def test_a_change_of_another_project_is_not_told(
    house: House, session: SessionMaker, entry: EntryMaker
) -> None:
    client = session("reader")
    stream = client.listen()
    client.result("resources/subscribe", {"uri": "memory://projB/one"})

    house.door("writer", "projB")("upsertEntry", entry=entry(id="one"))
    house.door("writer")("upsertEntry", entry=entry(id="one", tags=["prompt"]))

    heard(stream, "notifications/prompts/list_changed")
    stream.leave()
    assert UPDATED not in methods(stream.result().body)


def test_a_change_of_the_shared_store_is_told_to_whoever_may_read_it_there(
    house: House, session: SessionMaker, entry: EntryMaker
) -> None:
    house.reconfigure(lambda text: f'{text}\n[permissions.shared]\nreader = "none"\n')
    uri = "memory://shared/one"
    allowed, shut, apart = session("writer"), session("reader"), session("writer", "projB")
    streams = [client.listen() for client in (allowed, shut, apart)]
    for client in (allowed, shut, apart):
        client.result("resources/subscribe", {"uri": uri})

    house.door("admin", "shared")("upsertEntry", entry=entry(id="one"))
    assert heard(streams[0], UPDATED) == {"uri": uri}
    for project in ("projA", "projB"):
        house.door("admin", project)("upsertEntry", entry=entry(id="end", tags=["prompt"]))

    for stream in streams[1:]:
        heard(stream, "notifications/prompts/list_changed")
        stream.leave()
        assert methods(stream.result().body).count("notifications/prompts/list_changed") == 1
        assert UPDATED not in methods(stream.result().body)
    streams[0].leave()


def test_a_message_of_the_protocol_is_one_line_of_json(session: SessionMaker) -> None:
    answer = session().send("tools/list")

    [line] = [one for one in answer.body.splitlines() if one.startswith(b"data: {")]
    assert msgspec.json.decode(line.removeprefix(b"data:"))["result"]["tools"]
