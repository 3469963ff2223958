"""Group commit: many writers, one write."""

import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial

import pytest

from qms.memory.access import AccessTier
from qms.store import group_commit
from qms.store.group_commit import MAX_GROUP, GroupCommit, Ticket
from qms.store.options import Origin

ORIGIN = Origin(
    command="upsertEntry",
    user="tester",
    at_utc=datetime(2026, 1, 1, tzinfo=UTC),
    right=AccessTier.ADMIN,
)


def ticket() -> Ticket:
    return Ticket(ORIGIN, lambda draft: None)


def started(*calls: Callable[[], None]) -> list[threading.Thread]:
    threads = [threading.Thread(target=call, daemon=True) for call in calls]
    for thread in threads:
        thread.start()
    return threads


def joined(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()


def test_one_writer_is_a_group_of_its_own() -> None:
    groups: list[int] = []
    commit = GroupCommit(lambda tickets: groups.append(len(tickets)))
    one = ticket()
    commit.submit(one)

    assert one.is_done
    assert groups == [1]


def sizes_of_groups(late: int) -> list[int]:
    """Return how many are written at once when so many writers come during the first write."""
    sizes: list[int] = []
    entered, leave = threading.Event(), threading.Event()
    waiting = threading.Semaphore(0)

    def write(tickets: list[Ticket]) -> None:
        sizes.append(len(tickets))
        if len(sizes) == 1:
            entered.set()
            assert leave.wait(30)

    class Watched(Ticket):
        def wait(self) -> None:
            waiting.release()
            super().wait()

    commit = GroupCommit(write)
    first = started(lambda: commit.submit(ticket()))
    assert entered.wait(30)
    others = started(*[lambda: commit.submit(Watched(ORIGIN, lambda draft: None))] * late)
    for _ in range(late):
        assert waiting.acquire(timeout=30)
    leave.set()
    joined(first + others)
    return sizes


def test_those_who_come_during_a_write_are_written_together() -> None:
    assert sizes_of_groups(late=9) == [1, 9]


def test_more_writers_than_a_group_holds_are_written_in_several(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(group_commit, "MAX_GROUP", 4)

    assert sizes_of_groups(late=9) == [1, 4, 4, 1]


def test_every_ticket_is_written_exactly_once() -> None:
    seen: list[Ticket] = []
    commit = GroupCommit(seen.extend)
    tickets = [[ticket() for _ in range(200)] for _ in range(8)]

    def submit(own: list[Ticket]) -> None:
        for one in own:
            commit.submit(one)

    joined(started(*[partial(submit, own) for own in tickets]))

    assert len(seen) == 1600
    assert len({id(one) for one in seen}) == 1600
    assert all(one.is_done for own in tickets for one in own)


def test_a_failing_write_fails_its_group_and_no_other() -> None:
    calls: list[int] = []

    def write(tickets: list[Ticket]) -> None:
        calls.append(len(tickets))
        if len(calls) == 1:
            raise RuntimeError("broken")

    commit = GroupCommit(write)
    bad, good = ticket(), ticket()
    with pytest.raises(RuntimeError, match="broken"):
        commit.submit(bad)
    commit.submit(good)

    assert isinstance(bad.error, RuntimeError)
    assert good.error is None


def test_a_group_has_a_largest_size() -> None:
    assert MAX_GROUP >= 64


def test_an_unexpected_failure_of_the_leader_fails_everybody_in_its_group() -> None:
    is_writing, may_fail = threading.Event(), threading.Event()
    groups: list[int] = []

    def write(group: list[Ticket]) -> None:
        groups.append(len(group))
        is_writing.set()
        assert may_fail.wait(30)
        raise ValueError("no OSError, and nobody thought of it")

    commit = GroupCommit(write)
    tickets = [Ticket(ORIGIN, lambda draft: None) for _ in range(3)]

    def submit(ticket: Ticket) -> None:
        with suppress(ValueError):
            commit.submit(ticket)

    threads = [threading.Thread(target=submit, args=(ticket,)) for ticket in tickets]
    threads[0].start()
    assert is_writing.wait(30)
    for thread in threads[1:]:
        thread.start()
    while commit.waiting < 2:
        threads[1].join(0.01)
    may_fail.set()
    for thread in threads:
        thread.join(30)

    assert groups == [1, 2]
    assert [type(ticket.error) for ticket in tickets] == [ValueError] * 3
