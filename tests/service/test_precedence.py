"""Searches go before work that takes long, and never stop it for good."""

import threading

from qms.service.precedence import Precedence

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
