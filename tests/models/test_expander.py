"""Further words for searches, from a model that is slow, wrong, busy or away."""

import threading
from typing import Any

import pytest

from qms.memory.errors import UnavailableError
from qms.models.choose import ChosenChat
from qms.models.expander import MAX_ASKED, REMEMBERED, Expander, Expansion
from tests.support.waiting import eventually

BOUND_S = 10.0
TERMS = '{"terms": ["alembic", "schema change"]}'


class Model:
    """A model that answers when it is let."""

    model_id = "m"

    def __init__(self, answer: str = TERMS) -> None:
        self.answer = answer
        self.asked: list[str] = []
        self.may_answer = threading.Event()
        self.may_answer.set()

    def complete(self, _instructions: str, text: str) -> str:
        self.asked.append(text)
        assert self.may_answer.wait(BOUND_S)
        if not self.answer:
            raise UnavailableError("no answer")
        return self.answer


def expander_of(model: Any, **options: Any) -> Expander:
    return Expander(lambda: ChosenChat(model=model), wait_s=options.get("wait_s", BOUND_S))


def test_the_words_of_a_query_are_asked_for_once() -> None:
    model = Model()
    expand = expander_of(model)

    found = [expand("database migration"), expand("Database Migration")]

    assert found == [Expansion(("alembic", "schema change"))] * 2
    assert model.asked == ["database migration"]


def test_without_a_model_it_says_why() -> None:
    expand = Expander(lambda: ChosenChat(reason="no language model is configured"))

    assert expand("x") == Expansion(reason="no language model is configured")


@pytest.mark.parametrize("answer", ["", "nonsense", '{"terms": 5}'])
def test_a_failure_is_told_and_not_remembered(answer: str) -> None:
    model = Model(answer)
    expand = expander_of(model)

    assert expand("x").terms == ()
    assert expand("x").reason
    assert len(model.asked) == 2


def test_a_slow_answer_serves_the_next_search() -> None:
    model = Model()
    model.may_answer.clear()

    slow = expander_of(model, wait_s=0.0)
    first = slow("x")
    model.may_answer.set()

    assert "is slow" in str(first.reason)
    eventually(lambda: slow("x").terms == ("alembic", "schema change"))
    assert model.asked == ["x"]


def test_only_so_many_queries_wait_for_a_model() -> None:
    model = Model()
    model.may_answer.clear()
    expand = expander_of(model, wait_s=0.0)

    reasons = [expand(f"query {number}").reason for number in range(MAX_ASKED + 2)]
    model.may_answer.set()

    assert reasons[MAX_ASKED:] == ["the language model is busy"] * 2
    assert len(model.asked) <= MAX_ASKED


def test_what_is_remembered_is_bounded() -> None:
    model = Model()
    expand = expander_of(model)

    for number in range(REMEMBERED + 1):
        expand(f"query {number}")
    expand("query 1")
    expand("query 0")

    assert model.asked[REMEMBERED + 1 :] == ["query 0"]
