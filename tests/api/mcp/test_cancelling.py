"""Cancelled calls: no answer, and work that has not begun does not begin."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from qms.api import running
from qms.domain.access import AccessTier
from qms.service.calls import Call, Command
from qms.service.requests import NoArguments, Response
from qms.service.table import TABLE
from tests.support.asgi import LIMIT_S
from tests.support.house import Clock, House
from tests.support.mcp import McpClient, SessionClient, events

CANCELLED = -32800


class Done(Response, frozen=True):
    done: bool = True


class Work:
    """A command that takes until it is let go, and notes each time that it begins."""

    def __init__(self) -> None:
        self.begun = 0
        self.has_begun = threading.Event()
        self.may_end = threading.Event()

    def handle(self, _call: Call, _request: NoArguments) -> Done:
        self.begun += 1
        self.has_begun.set()
        assert self.may_end.wait(LIMIT_S)
        return Done()

    def row(self, name: str, *, brief: bool = False) -> Command:
        return Command(
            name=name,
            toolset="core",
            least=AccessTier.READER,
            request=NoArguments,
            response=Done,
            handler=self.handle,
            help="Work until let go",
            example={},
            brief=brief,
        )


@pytest.fixture
def first() -> Work:
    return Work()


@pytest.fixture
def second() -> Work:
    return Work()


@pytest.fixture
def busy(
    tmp_path: Path, clock: Clock, first: Work, second: Work, monkeypatch: pytest.MonkeyPatch
) -> Iterator[House]:
    """Return a house with one worker, who is at the first work already."""
    monkeypatch.setattr(running, "WRITING_THREADS", 1)
    own = (first.row("first"), second.row("second"), second.row("brief", brief=True))
    house = House(tmp_path, clock, commands=(*TABLE, *own))
    house.store()
    house.store("shared")
    call = McpClient(house.client, "reader").open("tools/call", {"name": "first"})
    assert first.has_begun.wait(LIMIT_S)
    yield house
    first.may_end.set()
    call.result()
    house.close()


def test_a_cancelled_call_that_waits_never_begins(busy: House, first: Work, second: Work) -> None:
    second.may_end.set()
    client = SessionClient(busy.client, "reader")
    call = client.open("tools/call", {"name": "second"})
    call.wait_for_head()
    number = client.message("ping")["id"] - 1

    client.notify("notifications/cancelled", {"requestId": number})

    [answer] = events(call.result().body)
    assert answer["error"]["code"] == CANCELLED
    first.may_end.set()
    assert client.call("health")["status"]
    assert second.begun == 0


def test_a_cancelled_brief_call_is_answered_by_a_document(
    busy: House, first: Work, second: Work
) -> None:
    second.may_end.set()
    client = SessionClient(busy.client, "reader")
    call = client.open("tools/call", {"name": "brief"})
    client.result("ping")

    client.notify("notifications/cancelled", {"requestId": client.message("ping")["id"] - 2})

    assert call.result().json["error"]["code"] == CANCELLED
    first.may_end.set()
    assert client.call("health")["status"]
    assert second.begun == 0


def test_a_client_that_leaves_cancels_its_call(busy: House, first: Work, second: Work) -> None:
    second.may_end.set()
    client = McpClient(busy.client, "reader")
    call = client.open("tools/call", {"name": "second"})
    client.result("server/discover")

    call.leave()

    first.may_end.set()
    assert client.call("health")["status"]
    assert second.begun == 0


def test_a_call_that_nobody_cancels_is_made_in_its_turn(
    busy: House, first: Work, second: Work
) -> None:
    second.may_end.set()
    call = McpClient(busy.client, "reader").open("tools/call", {"name": "second"})

    first.may_end.set()

    assert call.result().json["result"]["structuredContent"] == {"done": True}
    assert second.begun == 1
