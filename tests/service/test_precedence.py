"""Searches go before work that takes long, and never stop it for good."""

import threading
from contextlib import suppress

import pytest

from qms.service.precedence import (
    LONGEST_S,
    MOST_BEHIND,
    MOST_WAIT_S,
    PAUSE_S,
    SEARCHED_S,
    Precedence,
)
from tests.support.waiting import PausesOnly

LIMIT_S = 30.0


def test_nobody_waits_when_no_search_is_under_way() -> None:
    precedence = Precedence()
    with precedence.first():
        pass

    precedence.give_way()

    assert precedence._searches == 0


def test_work_goes_on_when_the_last_search_has_ended() -> None:
    precedence = Precedence()
    inside, leave, went_on = threading.Event(), threading.Event(), threading.Event()

    def search() -> None:
        with precedence.first():
            inside.set()
            leave.wait(LIMIT_S)

    def work() -> None:
        while not leave.is_set():
            precedence.give_way()
        precedence.give_way()
        went_on.set()

    threads = [threading.Thread(target=search), threading.Thread(target=work)]
    threads[0].start()
    assert inside.wait(LIMIT_S)
    threads[1].start()
    leave.set()
    for thread in threads:
        thread.join(LIMIT_S)

    assert went_on.is_set()


def test_a_search_that_never_ends_holds_work_up_for_a_moment_only() -> None:
    precedence = Precedence()

    with precedence.first():
        precedence.give_way()

        assert precedence._searches == 1


def test_a_search_that_fails_is_no_longer_waited_for() -> None:
    precedence = Precedence()
    try:
        with precedence.first():
            raise ValueError
    except ValueError:
        pass

    assert precedence._searches == 0


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_an_import_that_nobody_searches_beside_has_the_server_for_itself() -> None:
    precedence = Precedence(Clock())

    assert not precedence.is_import_alone
    with precedence.importing():
        assert precedence.is_import_alone


def test_calls_that_follow_each_other_closely_are_one_import() -> None:
    precedence = Precedence(clock := Clock())
    with precedence.importing():
        pass

    clock.now += 0.9 * PAUSE_S
    assert precedence.is_import_alone
    clock.now += 0.2 * PAUSE_S
    assert not precedence.is_import_alone


def test_indexes_keep_up_with_an_import_beside_which_somebody_searches() -> None:
    precedence = Precedence(clock := Clock())

    with precedence.importing():
        with precedence.first():
            assert not precedence.is_import_alone
        assert not precedence.is_import_alone
        clock.now += 0.9 * SEARCHED_S
        assert not precedence.is_import_alone


def test_indexing_does_not_stand_back_from_a_long_import_for_ever() -> None:
    precedence = Precedence(clock := Clock())
    with precedence.importing():
        pass
    clock.now += 0.5 * PAUSE_S

    with precedence.importing():
        clock.now += LONGEST_S
        assert not precedence.is_import_alone


def test_an_import_that_fails_is_no_longer_under_way() -> None:
    precedence = Precedence(clock := Clock())
    with suppress(ValueError), precedence.importing():
        raise ValueError

    clock.now += 2 * PAUSE_S
    assert not precedence.is_import_alone


def waited_s(behind: list[int], *, is_searched: bool = True) -> float:
    """Return how long an import waits when so many entries are behind, look by look."""
    clock = PausesOnly()
    precedence = Precedence(lambda: clock.now, clock.pause)
    if is_searched:
        with precedence.first():
            pass
    precedence.wait_for(lambda: behind.pop(0) if len(behind) > 1 else behind[0])
    return clock.now


def test_an_import_waits_for_words_while_somebody_searches() -> None:
    many = MOST_BEHIND + 1

    assert waited_s([many, many, many, MOST_BEHIND]) == pytest.approx(3 * MOST_WAIT_S)
    assert waited_s([MOST_BEHIND]) == 0
    assert waited_s([many], is_searched=False) == 0


def test_words_that_are_never_written_hold_an_import_up_for_a_while_only() -> None:
    assert waited_s([MOST_BEHIND + 1]) == pytest.approx(SEARCHED_S, abs=2 * MOST_WAIT_S)
