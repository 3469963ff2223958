"""Whose words a question is about."""

import pytest

from qms.search.speaker import FACTOR, FIRST_PERSON, speaker_factors, speaks_of_self
from qms.text.terms import words

ROLES = ["user", "assistant", None]


def factors(question: str, roles: list[str | None]) -> list[float]:
    found: list[float] = speaker_factors(roles, words(question)).tolist()
    return found


def test_turns_of_somebody_who_is_named_count_more() -> None:
    assert factors("What did Tim say?", ["Tim", "John"]) == [FACTOR, 1.0]


def test_when_all_are_named_nobody_counts_more() -> None:
    assert factors("What did Tim tell John?", ["Tim", "John"]) == [1.0, 1.0]


def test_a_name_of_several_words_is_named_by_all_of_them() -> None:
    roles: list[str | None] = ["Mary Ann", "Ann"]
    assert factors("What did Ann say?", roles) == [1.0, FACTOR]


def test_a_question_in_the_first_person_is_about_the_user() -> None:
    assert factors("What did I plant in my garden?", ROLES) == [FACTOR, 1.0, 1.0]


def test_a_question_about_nobody_prefers_nobody() -> None:
    assert factors("Which port does the server use?", ROLES) == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    "question",
    [
        "Wann habe ich mit dem Garten angefangen?",
        "Qu'est-ce que j'ai dit de mon jardin?",
        "¿Cuándo fue que yo hablé de mi jardín con ella?",
        "Что я говорил о моем саде?",
    ],
)
def test_the_first_person_is_known_in_other_languages(question: str) -> None:
    assert speaks_of_self(words(question))


def test_words_of_one_language_are_not_taken_for_those_of_another() -> None:
    assert not speaks_of_self(words("Quali sono i problemi con il server che sono stati risolti?"))


def test_first_persons_are_folded_like_the_words_of_a_query() -> None:
    assert all(words(word) == [word] for own in FIRST_PERSON.values() for word in own)
