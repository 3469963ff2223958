"""Group commit: one leader writes for all who wait."""

import threading
from contextlib import suppress
from datetime import UTC, datetime

from qms.store.group import GroupCommit, Ticket
from qms.store.options import Origin

ORIGIN = Origin(command="upsertEntry", user="tester", at_utc=datetime(2026, 1, 1, tzinfo=UTC))


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
    while len(commit._waiting) < 2:
        threads[1].join(0.01)
    may_fail.set()
    for thread in threads:
        thread.join(30)

    assert groups == [1, 2]
    assert [type(ticket.error) for ticket in tickets] == [ValueError] * 3
