"""Cancelled calls: no answer, work that has not begun does not begin, and a read stops."""

import threading
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import msgspec
import pytest

from qms.app.table import TABLE
from qms.commands.call import Call
from qms.commands.command import Command
from qms.commands.requests import NoArguments, Response
from qms.http import threads
from qms.memory.access import AccessTier
from qms.memory.errors import UnavailableError
from tests.support.asgi import LIMIT_S, AnswerStream
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
    monkeypatch.setattr(threads, "WRITING_THREADS", 1)
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


class Read(Work):
    """A command that reads rows without an end, and notes when it is stopped."""

    def __init__(self) -> None:
        super().__init__()
        self.is_stopped = threading.Event()
        self.reason = ""

    def handle(self, call: Call, _request: NoArguments) -> Done:
        self.has_begun.set()
        try:
            for _ in call.deadline.rows(count()):
                pass
        except UnavailableError as error:
            self.reason = error.message
            self.is_stopped.set()
            raise
        return Done()

    def row(self, name: str, *, brief: bool = False) -> Command:
        return msgspec.structs.replace(super().row(name, brief=brief), read_only=True)


def cancel(client: McpClient, _call: AnswerStream) -> None:
    assert isinstance(client, SessionClient)
    client.notify("notifications/cancelled", {"requestId": client.message("ping")["id"] - 1})


def leave(_client: McpClient, call: AnswerStream) -> None:
    call.leave()


@pytest.mark.parametrize("name", ["long", "brief"])
@pytest.mark.parametrize(
    ("make", "end"), [(McpClient, leave), (SessionClient, leave), (SessionClient, cancel)]
)
def test_a_read_that_has_begun_stops_when_its_client_leaves_or_cancels_it(
    tmp_path: Path,
    clock: Clock,
    make: type[McpClient],
    end: Callable[[McpClient, AnswerStream], None],
    name: str,
) -> None:
    read = Read()
    rows = (read.row("long"), read.row("brief", brief=True))
    house = House(tmp_path, clock, commands=(*TABLE, *rows))
    house.store()
    house.store("shared")
    client = make(house.client, "reader")
    call = client.open("tools/call", {"name": name})
    assert read.has_begun.wait(LIMIT_S)

    end(client, call)

    assert read.is_stopped.wait(LIMIT_S)
    assert read.reason == "the client is gone, so the command was stopped"
    house.close()
