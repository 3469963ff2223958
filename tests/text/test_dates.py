"""Dates as people write them, and the terms that they share with instants."""

from datetime import UTC, datetime

import pytest

from qms.text.dates import date_terms, instant_terms, is_only_a_date

EIGHTH_OF_MAY = {"y2023", "m05", "m05d08"}


def test_an_instant_answers_to_its_year_month_and_day() -> None:
    assert set(instant_terms(datetime(2023, 5, 8, 13, 56, tzinfo=UTC))) == EIGHTH_OF_MAY


@pytest.mark.parametrize(
    "text",
    [
        "What happened on 8 May, 2023?",
        "May 8th 2023",
        "the 8th of may 2023",
        "2023-05-08",
        "2023/5/8",
        "am 8. Mai 2023",
        "le 8 mai 2023",
        "el 8 de mayo de 2023",
        "8 мая 2023",
        "2023年5月8日",
        "2023년 5월 8일",
    ],
)
def test_a_day_is_understood_however_it_is_written(text: str) -> None:
    assert set(date_terms(text)) == EIGHTH_OF_MAY


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("in August", {"m08"}),
        ("Août 2022", {"m08", "y2022"}),
        ("2022-08", {"y2022", "m08"}),
        ("in may 2021", {"m05", "y2021"}),
        ("since 1999", {"y1999"}),
    ],
)
def test_a_month_or_a_year_stands_for_itself(text: str, terms: set[str]) -> None:
    assert set(date_terms(text)) == terms


@pytest.mark.parametrize(
    "text",
    ["what may we do", "they march on", "8 items", "port 5080", "version 1.2.3", "2023-13-45x", ""],
)
def test_other_words_and_numbers_are_no_dates(text: str) -> None:
    assert not {term for term in date_terms(text) if term.startswith("m")}


@pytest.mark.parametrize(
    ("title", "says_nothing_else"),
    [
        ("1:56 pm on 8 May, 2023", True),
        ("2023/05/20 (Sat) 02:21", True),
        ("2023年5月8日", True),
        ("Retrospective of 8 May 2023", False),
        ("Release 2023", False),
        ("", False),
    ],
)
def test_a_title_may_be_a_date_and_nothing_else(title: str, says_nothing_else: bool) -> None:
    assert is_only_a_date(title) is says_nothing_else
