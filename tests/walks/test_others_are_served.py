"""While requests of one client are worked on, those of another one are answered."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from qms.app.table import TABLE
from qms.commands.call import Call
from qms.commands.command import Command
from qms.commands.requests import NoArguments, Response
from qms.memory.access import AccessTier
from qms.memory.errors import UnavailableError
from tests.support.asgi import AnswerStream
from tests.support.house import Clock, House, key_of
from tools.benchmarks.hostile import Attack, attacks

IN_FLIGHT = 20
CALLS = 10
LIMIT_S = 60
REFUSED = ("100,000", "64 KB", "CSV")
"""Which inputs of the benchmark a limit refuses; the others are taken, and cost linear work."""


class Slow:
    """A command that only reads, and goes on until it is let go or its client is gone."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.begun = threading.Semaphore(0)
        self.stopped = threading.Semaphore(0)
        self.reason = ""

    def __call__(self, call: Call, _request: NoArguments) -> Response:
        """Look at the deadline until the gate is open."""
        self.begun.release()
        while not self.gate.is_set():
            try:
                call.deadline.check()
            except UnavailableError as error:
                self.reason = error.message
                self.stopped.release()
                raise
            self.gate.wait(0.01)
        return Response()


@pytest.fixture
def slow() -> Slow:
    """Return the slow command's handler."""
    return Slow()


@pytest.fixture
def served(tmp_path: Path, clock: Clock, slow: Slow) -> Iterator[House]:
    """Yield a house whose table has one more read, which is slow."""
    row = Command(
        name="slowRead",
        toolset="core",
        least=AccessTier.READER,
        request=NoArguments,
        response=Response,
        handler=slow,
        help="Read slowly",
        example={},
        read_only=True,
    )
    made = House(tmp_path, clock, commands=(*TABLE, row))
    made.door("writer")("searchEntries", query={"text": "anything"})
    yield made
    slow.gate.set()
    made.close()


def start(
    house: House,
    path: str = "/api/v1/projA/slowRead",
    body: bytes = b"{}",
    *,
    user: str = "reader",
) -> AnswerStream:
    headers = [
        ("content-type", "application/json"),
        ("authorization", f"Bearer {key_of(user)}"),
    ]
    return house.client.open("POST", path, headers=headers, chunks=[body])


@pytest.mark.attack(84)
def test_health_and_searches_of_others_are_answered_while_slow_reads_fill_the_threads(
    served: House, slow: Slow
) -> None:
    streams = [start(served) for _ in range(IN_FLIGHT)]
    assert slow.begun.acquire(timeout=LIMIT_S)

    door = served.door("writer")
    for _ in range(CALLS):
        assert served.client.request("GET", "/health").status == 200
        assert door("health")["status"]
        assert door("searchEntries", query={"text": "anything"})["results"] == []
        assert door("listEntries")["items"] == []

    slow.gate.set()
    assert {stream.result().status for stream in streams} == {200}


@pytest.mark.attack(84)
@pytest.mark.parametrize("attack", attacks("projA"), ids=lambda attack: attack.name)
def test_others_are_answered_while_an_input_made_against_the_server_is_worked_on(
    house: House, attack: Attack
) -> None:
    door = house.door("reader")
    door("searchEntries", query={"text": "anything"})
    streams = [start(house, attack.path, attack.body, user="admin") for _ in range(4)]

    for _ in range(CALLS):
        assert house.client.request("GET", "/health").status == 200
        assert door("searchEntries", query={"text": "anything"})["mode"]

    statuses = {stream.result().status for stream in streams}
    is_refused = any(part in attack.name for part in REFUSED)
    assert statuses == {400} if is_refused else statuses <= {200, 400}


def test_a_read_stops_when_its_client_closes_the_connection(served: House, slow: Slow) -> None:
    stream = start(served)
    assert slow.begun.acquire(timeout=LIMIT_S)

    stream.leave()

    assert slow.stopped.acquire(timeout=LIMIT_S)
    assert slow.reason == "the client is gone, so the command was stopped"


def test_a_read_that_takes_too_long_says_so(served: House, slow: Slow) -> None:
    served.set_limits(readSeconds=1)

    answer = start(served).result()

    assert slow.stopped.acquire(timeout=LIMIT_S)
    error = answer.json["error"]
    assert (answer.status, error["code"]) == (503, "unavailable")
    assert error["details"]["limit"] == "readSeconds"
