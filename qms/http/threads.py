"""Runs commands: on the event loop if they need only RAM, else in threads shared by all users."""

import asyncio
import logging
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from functools import cache, partial
from typing import TypeVar

from anyio import CancelScope, sleep_forever
from starlette.requests import Request

from qms.commands.admission import Admission
from qms.memory.deadline import NO_DEADLINE, Deadline
from qms.memory.errors import QmsError, UnavailableError
from qms.telemetry import metrics

log = logging.getLogger(__name__)

WRITING_THREADS = 64
"""How many commands may write at once; concurrent writers share one sync."""

READING_THREADS = 4
"""How many commands may read at once; more would only compete with each other and with the event
loop for the interpreter lock."""

WAITING_THREADS = 64
"""How many commands may wait for stores that are being loaded, in threads of their own."""

MAX_QUEUED = 512
"""How many commands may wait for a thread of one kind; the next one gets a 503.

One user gets at most half of these places.
"""

RETRY_AFTER_S = 1

WATCHED_AFTER_S = 0.1
"""After this time a read watches for the end of its client; most reads are answered before."""

T = TypeVar("T")


class Door(StrEnum):
    """The interface that received a command."""

    API = "api"
    MCP = "mcp"
    ADMIN = "admin"


Work = Callable[[Deadline], T]
"""A call of a command; a read ends at the deadline."""

Gone = Callable[[], Awaitable[object]]
"""Returns once the client of a request is gone."""


async def wait_until_gone(request: Request) -> None:
    """Return once the client of a request, whose body was read, has closed the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


class FairThreads:
    """A thread pool shared fairly among users, with a bounded queue.

    While other users wait, a user with half of the threads or more gets no further one. Threads
    beyond a user's half are not counted: spare threads take their place, so that reads which
    started while the pool was idle do not block other users. All methods run on the event loop.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._half = max(1, threads // 2)
        self._pool = ThreadPoolExecutor(threads + self._half, "command")
        self._waiting: dict[str, deque[asyncio.Event]] = {}
        self._running: Counter[str] = Counter()

    async def run(
        self, user: str, work: Callable[[], T], give_up: Callable[[], None] | None = None
    ) -> T:
        """Return what `work` returns in a thread.

        A thread cannot be stopped from outside: after a cancellation `give_up` is called, and the
        end of the thread is awaited.

        Raises:
            UnavailableError: too many commands wait already.
        """
        await self._enter(user)
        try:
            running = asyncio.get_running_loop().run_in_executor(self._pool, _raising, work)
            try:
                return await asyncio.shield(running)
            except asyncio.CancelledError:
                if give_up is not None:
                    give_up()
                with CancelScope(shield=True):
                    await asyncio.wait((running,))
                raise
        finally:
            self._leave(user)

    async def _enter(self, user: str) -> None:
        own = len(self._waiting.get(user, ()))
        if own >= MAX_QUEUED // 2 or sum(map(len, self._waiting.values())) >= MAX_QUEUED:
            raise UnavailableError(
                "the server is overloaded: try again in a moment",
                retryAfterSeconds=RETRY_AFTER_S,
            )
        turn = asyncio.Event()
        self._waiting.setdefault(user, deque()).append(turn)
        self._admit()
        if turn.is_set():
            return
        with ExitStack() as undo:
            undo.callback(self._give_up, user, turn)
            await turn.wait()
            undo.pop_all()

    def _give_up(self, user: str, turn: asyncio.Event) -> None:
        """Take back a turn that was waited for: its request was cancelled."""
        if turn.is_set():
            self._leave(user)
        else:
            self._take_out(user, turn)

    def _leave(self, user: str) -> None:
        self._running[user] -= 1
        if not self._running[user]:
            del self._running[user]
        self._admit()

    def _admit(self) -> None:
        while (user := self._next()) is not None:
            turn = self._waiting[user][0]
            self._take_out(user, turn)
            self._running[user] += 1
            turn.set()

    def _next(self) -> str | None:
        """Return the next user to serve: of those waiting, the one with the fewest threads."""
        if not self._waiting:
            return None
        user = min(self._waiting, key=lambda one: self._running[one])
        counted = sum(min(count, self._half) for count in self._running.values())
        is_fair = self._running[user] < self._half and counted < self._threads
        is_alone = len(self._waiting) == 1 and self._running.total() < self._threads
        return user if is_fair or is_alone else None

    def _take_out(self, user: str, turn: asyncio.Event) -> None:
        self._waiting[user].remove(turn)
        if not self._waiting[user]:
            del self._waiting[user]


class Runner:
    """The thread pools that HTTP API, MCP and administration share."""

    def __init__(self) -> None:
        self._writing = FairThreads(WRITING_THREADS)
        self._reading = FairThreads(READING_THREADS)
        self._loading = FairThreads(WAITING_THREADS)

    async def run(
        self,
        admission: Admission,
        work: Work[T],
        *,
        is_short: bool = True,
        door: Door = Door.API,
        gone: Gone = sleep_forever,
    ) -> T:
        """Run `work`, a call of the admitted command; `is_short` allows inline.

        A read ends at its next deadline check after `gone` returns or the request is cancelled.

        Raises:
            UnavailableError: too many commands wait already, or the read took too long.
        """
        user = admission.who.user
        with _measured(door, admission.label):
            if is_short and admission.runs_inline:
                answer = work(NO_DEADLINE)
            else:
                threads, deadline = self._threads(admission), admission.deadline()
                if deadline is None:
                    answer = await threads.run(user, partial(work, NO_DEADLINE))
                else:
                    with _watched(deadline, gone):
                        answer = await threads.run(
                            user, partial(_read, work, deadline), deadline.cancel
                        )
        noted = {"project": admission.project or "", "command": admission.command, "user": user}
        log.debug("command answered", extra=noted)
        return answer

    def _threads(self, admission: Admission) -> FairThreads:
        if admission.waits_for_store:
            return self._loading
        return self._reading if admission.reads_memory else self._writing


def _read(work: Work[T], deadline: Deadline) -> T:
    deadline.restart()
    return work(deadline)


def _raising(work: Callable[[], T]) -> T:
    """Return what `work` returns; asyncio hands on every error but `StopIteration`."""
    try:
        return work()
    except StopIteration as error:
        raise RuntimeError("a command raised StopIteration") from error


@contextmanager
def _watched(deadline: Deadline, gone: Gone) -> Iterator[None]:
    """Cancel the deadline of a read that takes long when its client goes."""
    loop = asyncio.get_running_loop()
    watches: list[asyncio.Task[None]] = []

    async def watch() -> None:
        await gone()
        deadline.cancel()

    timer = loop.call_later(WATCHED_AFTER_S, lambda: watches.append(loop.create_task(watch())))
    try:
        yield
    finally:
        timer.cancel()
        for task in watches:
            task.cancel()


@contextmanager
def _measured(door: Door, command: str) -> Iterator[None]:
    outcome, began = "internal", time.perf_counter()
    metrics.COMMANDS_RUNNING.inc()
    try:
        yield
        outcome = "ok"
    except QmsError as error:
        outcome = error.code
        raise
    finally:
        metrics.COMMANDS_RUNNING.dec()
        _count(door, command, outcome).inc()
        _duration(door, command).observe(time.perf_counter() - began)


# Cached, because looking a metric up by its labels takes longer than counting.
_count = cache(metrics.REQUESTS.labels)
_duration = cache(metrics.REQUEST_SECONDS.labels)
