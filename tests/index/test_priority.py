"""Searches go before work that takes long, and never stop it for good."""

import threading

import pytest

from qms.index import priority as priorities
from qms.index.priority import SEARCHED_S, Priority

LIMIT_S = 30.0


def test_nobody_waits_when_no_search_is_under_way() -> None:
    priority = Priority()
    with priority.first():
        pass

    priority.give_way()

    assert priority.searches == 0


def test_work_goes_on_when_the_last_search_has_ended() -> None:
    priority = Priority()
    inside, leave, went_on = threading.Event(), threading.Event(), threading.Event()

    def search() -> None:
        with priority.first():
            inside.set()
            leave.wait(LIMIT_S)

    def work() -> None:
        while not leave.is_set():
            priority.give_way()
        priority.give_way()
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
    priority = Priority()

    with priority.first():
        priority.give_way()

        assert priority.searches == 1


def test_a_search_that_fails_is_no_longer_waited_for() -> None:
    priority = Priority()
    try:
        with priority.first():
            raise ValueError
    except ValueError:
        pass

    assert priority.searches == 0


def test_for_a_second_after_a_search_another_one_is_expected() -> None:
    now = [100.0]
    priority = Priority(lambda: now[0])
    seen = [priority.is_searched]

    with priority.first():
        seen.append(priority.is_searched)
    for share in (0.9, 0.2):
        now[0] += share * SEARCHED_S
        seen.append(priority.is_searched)

    assert seen == [False, True, True, False]


def test_embedding_waits_for_an_import_and_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    priority, order, inside = Priority(), list[str](), threading.Event()

    def embed() -> None:
        inside.wait(LIMIT_S)
        priority.wait_for_imports()
        order.append("embedded")

    monkeypatch.setattr(priorities, "IMPORT_WAIT_S", LIMIT_S)
    thread = threading.Thread(target=embed)
    thread.start()
    with priority.importing():
        inside.set()
        order.append("imported")
    thread.join(LIMIT_S)
    assert order == ["imported", "embedded"]

    monkeypatch.setattr(priorities, "IMPORT_WAIT_S", 0.01)
    with priority.importing():
        priority.wait_for_imports()
