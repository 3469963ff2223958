"""Neighbours and conversations lend score."""

import pytest

from qms.search.context import add_context
from qms.search.normalize import level
from tests.search.candidates_of import candidates


def situated(*args: object, **given: object) -> list[float]:
    found = candidates(*args, **given)  # type: ignore[arg-type]  # handed on
    result: list[float] = add_context(level([found])[0]).text.tolist()
    return result


def test_turns_get_of_their_neighbours_and_of_the_best_of_their_conversation() -> None:
    scores = situated(
        "abc",
        [1.0, 10.0, 0.0],
        conversation=[7, 7, 7],
        previous=[-1, 0, 1],
        following=[1, 2, -1],
    )
    assert scores == pytest.approx([1 + 3 + 6, 10 + 0.3 + 6, 0 + 3 + 6])


def test_conversations_do_not_lend_to_each_other() -> None:
    assert situated("ab", [10.0, 1.0], conversation=[7, 8]) == pytest.approx([16.0, 1.6])


def test_an_entry_outside_of_conversations_is_one_of_its_own() -> None:
    assert situated("ab", [10.0, 10.0], conversation=[7, -1]) == pytest.approx([16.0, 16.0])


def test_nothing_in_gives_nothing_out() -> None:
    assert situated("", []) == []
