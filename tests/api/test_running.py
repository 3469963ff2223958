"""The queue before the threads is bounded, and says so."""

import asyncio
import threading
from collections.abc import Callable

import pytest

from qms.api.running import MAX_QUEUED, READING_THREADS, Runner
from qms.config.keys import KeyMatch
from qms.domain.errors import UnavailableError
from tests.support.house import House, key_of


async def fill(runner: Runner, who: KeyMatch, gate: threading.Event) -> list[str]:
    """Call more often than there is room, and return the outcome of each call."""

    async def call(work: Callable[[], object]) -> str:
        try:
            await runner.run(who, "projA", "listEntries", work)
        except UnavailableError as error:
            return f"{error.code} {error.details}"
        return "ok"

    calls = [asyncio.create_task(call(gate.wait)) for _ in range(READING_THREADS + MAX_QUEUED + 10)]
    refused, _ = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
    while len(refused) < 10:
        refused, _ = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
    gate.set()
    outcomes = list(await asyncio.gather(*calls))
    return [*outcomes, await call(gate.wait)]


@pytest.mark.attack(54)
def test_beyond_the_queue_a_command_is_told_to_come_back_and_later_there_is_room(
    house: House,
) -> None:
    house.door("reader")("searchEntries", query={"text": "anything"})
    who = house.services.authenticate(key_of("reader"))

    outcomes = asyncio.run(fill(Runner(house.services), who, threading.Event()))

    later = "unavailable {'retryAfterSeconds': 1}"
    assert outcomes == ["ok"] * (READING_THREADS + MAX_QUEUED) + [later] * 10 + ["ok"]
