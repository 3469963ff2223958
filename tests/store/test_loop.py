"""The loop: it waits as long as it is told, wakes when asked, and survives what it calls."""

import queue
import threading

import pytest

from qms.store.loop import Loop
from tests.support.waiting import BOUND_S

FOREVER = float("inf")


def test_the_loop_waits_until_it_is_woken() -> None:
    ticks: queue.Queue[int] = queue.Queue()

    def tick() -> float:
        ticks.put(1)
        return FOREVER

    loop = Loop("test", tick)
    loop.start()
    ticks.get(timeout=BOUND_S)
    assert ticks.empty()

    loop.wake()

    ticks.get(timeout=BOUND_S)
    loop.stop()
    assert not loop.is_alive


def test_a_stop_waits_no_longer_than_the_loop_says() -> None:
    in_tick, may_end = threading.Event(), threading.Event()

    def tick() -> float:
        in_tick.set()
        assert may_end.wait(BOUND_S)
        return FOREVER

    loop = Loop("test", tick, stop_wait_s=0.0)
    loop.start()
    assert in_tick.wait(BOUND_S)

    loop.stop()

    assert loop.is_alive
    may_end.set()


def test_a_wake_during_a_tick_is_not_lost() -> None:
    ticks: queue.Queue[int] = queue.Queue()
    in_tick, may_end = threading.Event(), threading.Event()

    def tick() -> float:
        ticks.put(1)
        in_tick.set()
        assert may_end.wait(BOUND_S)
        return FOREVER

    loop = Loop("test", tick)
    loop.start()
    assert in_tick.wait(BOUND_S)
    loop.wake()
    may_end.set()

    ticks.get(timeout=BOUND_S)
    ticks.get(timeout=BOUND_S)
    loop.stop()


class Panic(BaseException):
    """What a panic of a native library looks like."""


@pytest.mark.parametrize("error", [ValueError, Panic])
def test_a_tick_that_raises_does_not_end_the_loop(error: type[BaseException]) -> None:
    ticks: queue.Queue[int] = queue.Queue()

    def tick() -> float:
        ticks.put(1)
        raise error

    loop = Loop("test", tick)
    loop.start()
    ticks.get(timeout=BOUND_S)
    loop.wake()

    ticks.get(timeout=BOUND_S)
    assert loop.is_alive
    loop.stop()


def test_a_loop_that_never_began_can_be_stopped() -> None:
    loop = Loop("test", lambda: FOREVER)

    loop.stop()

    assert not loop.is_alive
