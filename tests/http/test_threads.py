"""The queue before the threads has a limit, users share the threads, and a read can be ended."""

import asyncio
import threading
from collections.abc import Iterator
from itertools import count

import pytest

from qms.commands.admission import Admission
from qms.http.threads import MAX_QUEUED, READING_THREADS, FairThreads, Runner
from qms.memory.deadline import Deadline
from qms.memory.errors import UnavailableError
from tests.support.house import House, key_of

LIMIT_S = 60
HALF = READING_THREADS // 2


@pytest.fixture
def searched(house: House) -> House:
    """Return a house whose indexes are made, so that reads run in the threads for reads."""
    house.door("reader")("searchEntries", query={"text": "anything"})
    return house


class Reads:
    """Reads of a user that stay in their threads until they are let go."""

    def __init__(self, threads: FairThreads, user: str) -> None:
        self._threads = threads
        self._user = user
        self._gate = threading.Semaphore(0)
        self._changed = asyncio.Condition()
        self._loop = asyncio.get_running_loop()
        self.begun = self.ended = 0
        self.tasks: list[asyncio.Task[None]] = []

    def start(self, number: int) -> None:
        """Ask for so many more reads."""
        self.tasks += [
            asyncio.create_task(self._threads.run(self._user, self._read)) for _ in range(number)
        ]

    def let_go(self, number: int) -> None:
        """Let so many reads end."""
        self._gate.release(number)

    async def wait_until(self, *, begun: int | None = None, ended: int | None = None) -> None:
        """Return once so many have begun and ended; what else can begin by then has begun, too."""
        async with asyncio.timeout(LIMIT_S), self._changed:
            await self._changed.wait_for(
                lambda: begun in (None, self.begun) and ended in (None, self.ended)
            )

    def _read(self) -> None:
        self._note("begun")
        assert self._gate.acquire(timeout=LIMIT_S)
        self._note("ended")

    def _note(self, what: str) -> None:
        asyncio.run_coroutine_threadsafe(self._count(what), self._loop).result(LIMIT_S)

    async def _count(self, what: str) -> None:
        async with self._changed:
            setattr(self, what, getattr(self, what) + 1)
            self._changed.notify_all()


@pytest.mark.attack(84)
def test_a_user_has_all_threads_while_alone_and_holds_up_nobody_all_the_same() -> None:
    async def scenario() -> None:
        threads = FairThreads(READING_THREADS)
        slow, other = Reads(threads, "slow"), Reads(threads, "other")
        slow.start(3 * READING_THREADS)
        await slow.wait_until(begun=READING_THREADS)

        other.start(HALF)
        await other.wait_until(begun=HALF)
        assert slow.begun == READING_THREADS

        other.let_go(HALF)
        await other.wait_until(ended=HALF)
        for number in range(20):
            other.start(1)
            other.let_go(1)
            await other.wait_until(ended=HALF + number + 1)
        assert slow.begun == READING_THREADS

        slow.let_go(3 * READING_THREADS)
        await asyncio.gather(*slow.tasks, *other.tasks)

    asyncio.run(scenario())


def test_while_others_wait_a_user_gets_no_thread_beyond_its_half() -> None:
    async def scenario() -> None:
        threads = FairThreads(READING_THREADS)
        first, second = Reads(threads, "first"), Reads(threads, "second")
        first.start(3 * READING_THREADS)
        await first.wait_until(begun=READING_THREADS)
        second.start(READING_THREADS)
        await second.wait_until(begun=HALF)

        first.let_go(READING_THREADS - HALF)
        await first.wait_until(ended=READING_THREADS - HALF)
        assert (first.begun, second.begun) == (READING_THREADS, HALF)

        first.let_go(1)
        await first.wait_until(begun=READING_THREADS + 1)
        assert second.begun == HALF

        second.let_go(HALF)
        await second.wait_until(begun=READING_THREADS)
        assert first.begun == READING_THREADS + 1

        first.let_go(3 * READING_THREADS)
        second.let_go(READING_THREADS)
        await asyncio.gather(*first.tasks, *second.tasks)

    asyncio.run(scenario())


def test_a_call_that_is_cancelled_gives_its_place_back() -> None:
    async def scenario() -> None:
        threads = FairThreads(READING_THREADS)
        reads = Reads(threads, "one")
        reads.start(READING_THREADS + 2)
        await reads.wait_until(begun=READING_THREADS)

        for task in reads.tasks[READING_THREADS:]:
            task.cancel()
        await asyncio.wait(reads.tasks[READING_THREADS:], timeout=LIMIT_S)
        reads.let_go(READING_THREADS + 1)
        await asyncio.gather(*reads.tasks[:READING_THREADS])
        reads.start(1)
        await reads.wait_until(begun=READING_THREADS + 1, ended=READING_THREADS + 1)

    asyncio.run(scenario())


def list_entries(house: House) -> Admission:
    """Admit a reader to a read."""
    return house.gate.admit(house.gate.authenticate(key_of("reader")), "projA", "listEntries")


async def fill(admission: Admission, gate: threading.Event) -> list[str]:
    """Call more often than there is room, and return the outcome of each call."""
    runner = Runner()

    def work(_deadline: Deadline) -> bool:
        return gate.wait(LIMIT_S)

    async def call() -> str:
        try:
            await runner.run(admission, work)
        except UnavailableError as error:
            return f"{error.code} {error.details}"
        return "ok"

    places = READING_THREADS + MAX_QUEUED // 2
    calls = [asyncio.create_task(call()) for _ in range(places + 10)]
    refused, _ = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
    while len(refused) < 10:
        refused, _ = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
    gate.set()
    outcomes = list(await asyncio.gather(*calls))
    return [*outcomes, await call()]


@pytest.mark.attack(54)
def test_beyond_the_queue_a_command_is_told_to_come_back_and_later_there_is_room(
    searched: House,
) -> None:
    outcomes = asyncio.run(fill(list_entries(searched), threading.Event()))

    later = "unavailable {'retryAfterSeconds': 1}"
    assert outcomes == ["ok"] * (READING_THREADS + MAX_QUEUED // 2) + [later] * 10 + ["ok"]


class Endless:
    """A read that ends by its deadline only."""

    def __init__(self) -> None:
        self.has_begun = threading.Event()
        self.has_ended = threading.Event()
        self.ended_by: str | None = None

    def __call__(self, deadline: Deadline) -> None:
        """Work through rows without an end."""
        try:
            for _ in deadline.rows(self._rows()):
                pass
        except UnavailableError as error:
            self.ended_by = error.message
            raise
        finally:
            self.has_ended.set()

    def _rows(self) -> Iterator[int]:
        self.has_begun.set()
        yield from count()


@pytest.mark.parametrize("way", ["disconnected", "cancelled"])
def test_a_read_stops_working_when_its_client_is_gone(searched: House, way: str) -> None:
    admission, work = list_entries(searched), Endless()
    gone = asyncio.Event()

    async def scenario() -> None:
        runner = Runner()
        reading = runner.run(admission, work, gone=gone.wait)
        task = asyncio.create_task(reading)
        assert await asyncio.to_thread(work.has_begun.wait, LIMIT_S)
        if way == "cancelled":
            task.cancel()
        gone.set()
        with pytest.raises((UnavailableError, asyncio.CancelledError)):
            await task

    asyncio.run(scenario())

    assert work.has_ended.is_set()
    assert work.ended_by == "the client is gone, so the command was stopped"


def test_an_error_of_a_read_comes_out_as_it_is(searched: House) -> None:
    def work(_deadline: Deadline) -> None:
        raise KeyError("as it is")

    with pytest.raises(KeyError, match="as it is"):
        asyncio.run(Runner().run(list_entries(searched), work))


def test_a_read_that_ends_an_iterator_is_an_error_and_not_endless(searched: House) -> None:
    def work(_deadline: Deadline) -> None:
        raise StopIteration

    with pytest.raises(RuntimeError, match="StopIteration"):
        asyncio.run(Runner().run(list_entries(searched), work))
