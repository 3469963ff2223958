"""Bodies of requests share a bounded room, whoever sends them and through whichever door."""

from collections.abc import Iterator

import pytest

from qms.app.routes import app
from qms.http.guard import BodyMemory, Guard
from tests.support.asgi import AsgiClient
from tests.support.house import House, failure, key_of
from tests.support.mcp import McpClient

ROOM = 4096


@pytest.fixture
def room(house: House) -> BodyMemory:
    house.set_limits(bodyBytes=ROOM, importBytes=ROOM)
    return BodyMemory(ROOM)


@pytest.fixture
def crowded(house: House, room: BodyMemory) -> Iterator[AsgiClient]:
    client = AsgiClient(Guard(app(house.gate), house.gate, bodies=room))
    yield client
    client.close()


def test_a_body_for_which_there_is_no_room_is_told_to_come_back(
    crowded: AsgiClient, room: BodyMemory
) -> None:
    body = b'{"page":{"size":1}}' + b" " * 1000
    path, key = "/api/v1/projA/listEntries", key_of("reader")
    assert crowded.post(path, body, key=key).status == 200
    room.held = ROOM - 100

    refused = crowded.post(path, body, key=key)

    assert (refused.status, failure(refused).code) == (503, "unavailable")
    assert refused.headers["retry-after"] == "2"
    assert room.held == ROOM - 100
    room.held = 0
    assert crowded.post(path, body, key=key).status == 200
    assert room.held == 0


def test_the_room_is_that_of_all_doors_together(crowded: AsgiClient, room: BodyMemory) -> None:
    client = McpClient(crowded, "reader")
    assert "health" in client.tools()
    room.held = ROOM

    assert client.send("tools/list").status == 503
    room.held = 0
    assert "health" in client.tools()


def test_a_body_that_never_ends_holds_no_more_than_the_room(
    crowded: AsgiClient, room: BodyMemory
) -> None:
    taken: list[int] = []

    def endless() -> Iterator[bytes]:
        while True:
            taken.append(room.held)
            yield b" " * 512

    headers = [("content-type", "application/json"), ("x-api-key", key_of("reader"))]
    room.held = ROOM // 2
    refused = crowded.request(
        "POST", "/api/v1/projA/listEntries", headers=headers, chunks=endless()
    )

    assert refused.status == 503
    assert max(taken) <= ROOM
    assert room.held == ROOM // 2
