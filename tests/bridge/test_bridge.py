"""`qms bridge`: a client on pipes, a real server over HTTP, and what becomes of both."""

import signal
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.support.cutting_proxy import CuttingProxy
from tests.support.house import key_of
from tests.support.mcp import MODERN, SESSION_REVISIONS
from tests.support.running import RunningServer
from tests.support.server import ADMIN_KEY, configured
from tests.support.stdio import StdioClient, on_server
from tests.support.waiting import eventually

REVISIONS = (MODERN, *SESSION_REVISIONS)
NOTE = {"kind": "note", "body": "Hi"}
FOLLOWED = "memory://projA/followed"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    running = RunningServer(configured(tmp_path_factory.mktemp("bridge")), ADMIN_KEY)
    yield running
    running.stop()


@pytest.fixture
def restarting(tmp_path: Path) -> Iterator["Restarting"]:
    one = Restarting(configured(tmp_path))
    yield one
    one.server.stop()


class Restarting:
    """A server that can start anew on the port that it had."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.server = RunningServer(root, ADMIN_KEY)
        self.url = self.server.url

    def stop(self) -> None:
        self.server.stop()

    def start(self) -> None:
        self.server = RunningServer(self._root, ADMIN_KEY, port=self.server.port)


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_client_of_every_revision_lists_and_calls(server: RunningServer, revision: str) -> None:
    with on_server(server.url, key_of("writer"), revision=revision) as client:
        assert {"upsertEntry", "searchEntries"} <= client.tools()
        stored = client.call("upsertEntry", entry=NOTE)

        assert client.call("getEntry", id=stored["id"])["entry"]["id"] == stored["id"]
        assert client.close_input() == 0


@pytest.mark.parametrize("revision", [MODERN, SESSION_REVISIONS[0]])
def test_the_environment_names_the_author_of_what_is_written(
    server: RunningServer, revision: str
) -> None:
    with on_server(
        server.url, key_of("writer"), revision=revision, agent_id="ai:night-shift"
    ) as client:
        stored = client.call("upsertEntry", entry={**NOTE, "title": f"At night, {revision}"})

        assert client.call("getEntry", id=stored["id"])["entry"]["agentId"] == "ai:night-shift"


def test_a_name_that_is_none_stops_it_before_it_begins(server: RunningServer) -> None:
    with on_server(server.url, key_of("writer"), agent_id="two words") as client:
        assert client.wait() == 2

    assert b"error: QMS_AGENT_ID: " in client.errors


def test_many_requests_under_way_are_all_answered(server: RunningServer) -> None:
    with on_server(server.url, ADMIN_KEY) as client:
        asked = [client.request("tools/call", {"name": "health"}) for _ in range(50)]

        assert all("result" in client.answer_to(one) for one in asked)


def test_what_is_under_way_when_the_client_ends_is_still_answered(server: RunningServer) -> None:
    with on_server(server.url, ADMIN_KEY) as client:
        asked = client.request("tools/call", {"name": "health"})

        assert client.close_input() == 0

    assert any(one.get("id") == asked and "result" in one for one in client.said)


def test_a_text_that_no_header_carries_arrives_whole(server: RunningServer) -> None:
    with on_server(server.url, ADMIN_KEY) as client:
        answer = client.ask("resources/read", {"uri": "memory://projA/каша"})

        assert answer["error"]["data"] == {"uri": "memory://projA/каша"}, answer


def test_a_line_that_is_no_json_is_refused_and_the_next_one_served(server: RunningServer) -> None:
    with on_server(server.url, ADMIN_KEY) as client:
        client.send(b"{nonsense")
        assert client.answer_to(None)["error"]["code"] == -32700
        client.send(b"")

        assert "health" in client.tools()


@pytest.mark.parametrize("revision", [MODERN, SESSION_REVISIONS[0]])
@pytest.mark.parametrize(
    ("line", "identity", "reason"),
    [
        ({"jsonrpc": "2.0", "id": 71}, 71, "neither a method nor a result"),
        ({"jsonrpc": "2.0"}, None, "neither a method nor a result"),
        ({"jsonrpc": "2.0", "id": 71, "method": 5}, 71, "method must be a non-empty string"),
        ({"jsonrpc": "2.0", "id": 71, "method": ""}, 71, "method must be a non-empty string"),
        ({"jsonrpc": "2.0", "id": {}, "method": "ping"}, None, "id must be a string or a number"),
        ([{"jsonrpc": "2.0", "id": 71, "method": "ping"}], None, "one JSON object"),
        (5, None, "one JSON object"),
    ],
)
def test_a_line_that_is_no_request_is_answered(
    server: RunningServer, revision: str, line: object, identity: int | None, reason: str
) -> None:
    with on_server(server.url, key_of("writer"), revision=revision) as client:
        client.send(line)

        error = client.answer_to(identity)["error"]

        assert error["code"] == -32600
        assert reason in error["message"]
        assert client.tools()


def test_a_signal_ends_the_bridge_and_the_session(server: RunningServer) -> None:
    with on_server(server.url, ADMIN_KEY, revision=SESSION_REVISIONS[0]) as client:
        client.tools()
        client.signal(signal.SIGTERM)

        assert client.wait() == 0


def test_a_wrong_key_is_answered_with_what_to_do(server: RunningServer) -> None:
    with on_server(server.url, "qms_nobodys_key") as client:
        error = client.ask("tools/list")["error"]

        assert error["data"]["code"] == "notAuthenticated"
        assert "QMS_KEY" in error["message"]
        assert "memoryctl keys create" in error["message"]
        assert client.close_input() == 0


def test_without_a_key_it_stops_and_says_what_to_do() -> None:
    client = StdioClient("bridge")

    assert client.wait() == 3
    assert b"hint: set the environment variable QMS_KEY to the key of a user" in client.errors


def test_an_absent_project_is_named_as_such(server: RunningServer) -> None:
    with on_server(server.url, ADMIN_KEY, project="absent") as client:
        error = client.ask("tools/list")["error"]

        assert error["data"]["code"] == "notFound"
        assert "--project" in error["message"]


@pytest.mark.parametrize("revision", [MODERN, SESSION_REVISIONS[0]])
def test_the_client_goes_on_when_the_server_starts_anew(
    restarting: Restarting, revision: str
) -> None:
    with on_server(restarting.url, ADMIN_KEY, revision=revision) as client:
        identity = client.call("upsertEntry", entry=NOTE)["id"]
        restarting.stop()
        asked = client.request("tools/call", {"name": "getEntry", "arguments": {"id": identity}})
        restarting.start()

        found = client.answer_to(asked)["result"]["structuredContent"]
        assert found["entry"]["id"] == identity
        assert client.call("upsertEntry", entry={**NOTE, "title": "New"})["created"]


def test_what_a_session_follows_is_followed_in_the_next_one(restarting: Restarting) -> None:
    with on_server(restarting.url, ADMIN_KEY, revision=SESSION_REVISIONS[0]) as client:
        client.call("upsertEntry", entry={**NOTE, "id": "followed"})
        client.ask("resources/subscribe", {"uri": FOLLOWED})
        restarting.stop()
        restarting.start()

        change_until_heard(restarting, client)


def test_a_stream_of_changes_goes_on_with_the_next_server(restarting: Restarting) -> None:
    wanted = {"notifications": {"resourceSubscriptions": [FOLLOWED]}}
    with on_server(restarting.url, ADMIN_KEY) as client:
        client.call("upsertEntry", entry={**NOTE, "id": "followed"})
        client.request("subscriptions/listen", wanted)
        client.wait_for(is_acknowledged)
        restarting.stop()
        restarting.start()

        change_until_heard(restarting, client)

    assert len([one for one in client.said if is_acknowledged(one)]) == 1


def is_acknowledged(message: Any) -> bool:
    return str(message.get("method", "")).endswith("acknowledged")


def change_until_heard(restarting: Restarting, client: StdioClient) -> None:
    """Change the entry until the client hears of it: nobody knows when it listens again."""
    numbers = count()

    def is_heard() -> bool:
        patch = {"title": f"Changed {next(numbers)}"}
        restarting.server.call("projA", "patchEntry", id="followed", patch=patch)
        return any(one.get("method") == "notifications/resources/updated" for one in client.said)

    eventually(is_heard)


@pytest.mark.parametrize("revision", [MODERN, SESSION_REVISIONS[0]])
def test_a_write_whose_answer_is_lost_is_said_to_be_uncertain(
    server: RunningServer, revision: str
) -> None:
    with (
        CuttingProxy(server.url) as proxy,
        on_server(proxy.url, ADMIN_KEY, revision=revision) as client,
    ):
        client.tools()
        proxy.cut_next("upsertEntry")
        entry = {**NOTE, "title": f"Lost {revision}"}
        answer = client.ask("tools/call", {"name": "upsertEntry", "arguments": {"entry": entry}})

        assert "may or may not have been carried out" in answer["error"]["message"]
        assert proxy.cuts == 1

        def is_stored_once() -> bool:  # it was under way when the connection broke
            items = client.call("listEntries")["items"]
            return [item["title"] for item in items].count(f"Lost {revision}") == 1

        eventually(is_stored_once)


@pytest.mark.parametrize("revision", [MODERN, SESSION_REVISIONS[0]])
def test_a_read_whose_answer_is_lost_is_asked_again(server: RunningServer, revision: str) -> None:
    with (
        CuttingProxy(server.url) as proxy,
        on_server(proxy.url, ADMIN_KEY, revision=revision) as client,
    ):
        client.tools()
        proxy.cut_next('"health"')

        assert "stores" in client.call("health")
        assert proxy.cuts == 1
