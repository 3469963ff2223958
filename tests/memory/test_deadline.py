"""A deadline ends when its time is over or its client is gone."""

import pytest

from qms.memory.deadline import ROWS_PER_CHECK, Deadline
from qms.memory.errors import UnavailableError


def test_a_deadline_is_over_after_its_time_and_says_which_limit_that_is() -> None:
    now = [0.0]
    deadline = Deadline(20, monotonic=lambda: now[0])

    now[0] = 20.0
    deadline.check()
    now[0] = 20.1
    with pytest.raises(UnavailableError) as over:
        deadline.check()

    assert over.value.details == {"limit": "readSeconds", "maximum": 20}
    assert "readSeconds" in over.value.message


def test_time_that_is_spent_waiting_does_not_count() -> None:
    now = [0.0]
    deadline = Deadline(20, monotonic=lambda: now[0])

    with deadline.pause():
        now[0] = 100.0
    deadline.check()
    now[0] = 120.1
    with pytest.raises(UnavailableError):
        deadline.check()


def test_time_counts_from_the_moment_when_the_work_begins() -> None:
    now = [0.0]
    deadline = Deadline(20, monotonic=lambda: now[0])

    now[0] = 100.0
    deadline.restart()
    now[0] = 120.0
    deadline.check()
    now[0] = 120.1
    with pytest.raises(UnavailableError):
        deadline.check()


def test_rows_are_checked_at_the_first_and_every_thousand() -> None:
    deadline, read = Deadline(), 0

    with pytest.raises(UnavailableError, match="the client is gone"):  # noqa: PT012 - the row counts
        for _ in deadline.rows(range(10 * ROWS_PER_CHECK)):
            read += 1
            if read == ROWS_PER_CHECK + 1:
                deadline.cancel()

    assert read == 2 * ROWS_PER_CHECK
