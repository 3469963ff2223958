"""What can mean only one thing wins over likeness: ids, paths, symbols, quoted words, dates."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.house import Door

Search = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def search(as_writer: Door) -> Search:
    def found(text: str, /, **query: Any) -> list[dict[str, Any]]:
        wanted = {"text": text, "explain": True, **query}
        results: list[dict[str, Any]] = as_writer("searchEntries", query=wanted)["results"]
        return results

    return found


def store(door: Door, entry_id: str, text: str, /, **fields: Any) -> None:
    door("upsertEntry", entry={"id": entry_id, "kind": "note", "body": text, **fields})


def first(results: list[dict[str, Any]]) -> tuple[str, str | None]:
    return results[0]["entry"]["id"], results[0]["provenance"].get("exact")


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("docs/walks/search.md", "what is in docs/walks/search.md?"),
        ("docs/walks/search.md", "search.md"),
        ("C:\\work\\src\\parser.py", "C:\\work\\src\\parser.py"),
        ("C:\\work\\src\\parser.py", "parser.py"),
    ],
)
def test_the_path_of_a_source_brings_its_entry_first(
    as_writer: Door, search: Search, path: str, asked: str
) -> None:
    store(as_writer, "wanted", "Nothing of it stands here", source={"type": "doc", "path": path})
    for number in range(5):
        store(as_writer, f"o{number}", "Search the docs: walks, parser, py, md, what is in work")

    assert first(search(asked)) == ("projA:wanted", "path")


def test_a_path_inside_a_text_is_found_as_well(as_writer: Door, search: Search) -> None:
    store(as_writer, "mention", "The guard is in qms/store/fold.py now")
    for number in range(5):
        store(as_writer, f"o{number}", "fold store qms py: the guard of the fold")

    assert first(search("qms/store/fold.py")) == ("projA:mention", "path")


@pytest.mark.parametrize("asked", ["getUserName", "user name", "who calls get_user_name?"])
def test_a_symbol_is_found_whole_and_by_its_parts(
    as_writer: Door, search: Search, asked: str
) -> None:
    symbol = "get_user_name" if "_" in asked else "getUserName"
    store(as_writer, "symbol", f"Call {symbol} before the session ends")
    for number in range(5):
        store(as_writer, f"o{number}", "Call somebody before the session ends, whatever it is")

    assert first(search(asked))[0] == "projA:symbol"


def test_words_of_a_source_count_with_all_words_wanted(as_writer: Door, search: Search) -> None:
    store(as_writer, "a", "Nothing else", source={"type": "doc", "path": "docs/deployGuide.md"})

    assert [one["entry"]["id"] for one in search("deploy guide", match="all")] == ["projA:a"]


def test_quoted_words_win_over_the_same_words_apart(as_writer: Door, search: Search) -> None:
    store(as_writer, "phrase", "We chose a blue green rollout after a long talk about many things")
    for number in range(5):
        store(as_writer, f"o{number}", "green blue green, blue rollout: green and blue")

    results = search('"blue green rollout"')

    assert first(results) == ("projA:phrase", "phrase")
    assert len(results) == 1


def found_ids(results: list[dict[str, Any]]) -> list[str]:
    return [one["entry"]["id"].removeprefix("projA:") for one in results]


def test_words_beside_quoted_ones_bring_entries_without_them(
    as_writer: Door, search: Search
) -> None:
    store(as_writer, "phrase", "The Lean Startup lies on the desk")
    store(as_writer, "answer", "Jon took away that feedback beats planning")

    results = search('What did Jon take away from "The Lean Startup"?')

    assert found_ids(results) == ["phrase", "answer"]
    assert [one["provenance"].get("exact") for one in results] == ["phrase", None]
    assert results[1]["scores"]["text"] > 0


def test_quoted_words_that_stand_together_nowhere_count_as_words(
    as_writer: Door, search: Search
) -> None:
    store(as_writer, "a", "Seasons, all four of them, were played")
    store(as_writer, "b", "Nothing to hear")

    results = search('"The Four Seasons"')

    assert found_ids(results) == ["a"]
    assert "exact" not in results[0]["provenance"]


def test_of_two_quotations_one_brings_an_entry_first_unless_all_words_are_wanted(
    as_writer: Door, search: Search
) -> None:
    store(as_writer, "one", "I have read the quiet harbour")
    store(as_writer, "other", "I have read the old lighthouse")
    store(as_writer, "both", "the quiet harbour and the old lighthouse")
    asked = '"quiet harbour" "old lighthouse"'

    assert found_ids(search(asked))[0] == "both"
    assert set(found_ids(search(asked))) == {"one", "other", "both"}
    assert found_ids(search(asked, match="all")) == ["both"]


def test_quoted_words_are_not_met_by_one_name_among_them(as_writer: Door, search: Search) -> None:
    store(as_writer, "phrase", "Before the end, call getUserName twice")
    store(as_writer, "name", "getUserName: getUserName getUserName")

    assert found_ids(search('"call getUserName twice"')) == ["phrase"]
    assert set(found_ids(search('"getUserName"'))) == {"phrase", "name"}


def test_a_whole_id_wins_and_a_number_in_a_question_is_none(
    as_writer: Door, search: Search
) -> None:
    store(as_writer, "5", "The garden needs water")
    store(as_writer, "a", "List of 5 aspects of the release")

    assert first(search("Mention 5 aspects of the release")) == ("projA:a", None)
    assert first(search("5")) == ("projA:5", "id")
    assert first(search("projA:5")) == ("projA:5", "id")


@pytest.mark.parametrize("asked", ["8 May 2023", "am 8. Mai 2023", "2023年5月8日", "2023-05-08"])
@pytest.mark.parametrize("field", ["sourceUtc", "createdUtc"])
def test_the_day_of_an_entry_is_found_though_its_text_is_silent(
    as_writer: Door, search: Search, asked: str, field: str
) -> None:
    for day in (6, 7, 8, 9):
        time = {field: f"2023-05-{day:02}T10:00:00Z"}
        store(as_writer, f"day{day}", f"We met at the lake, {day * 11} people", timestamps=time)

    assert first(search(f"lake {asked}"))[0] == "projA:day8"


def test_a_title_that_is_the_texts_beginning_counts_no_more_than_none(
    as_writer: Door, search: Search
) -> None:
    text = "The walrus sleeps beside the old harbour wall and nobody knows since when"
    store(as_writer, "made", text)
    store(as_writer, "cut", text, title=text[:30])

    scores = {one["entry"]["id"]: one["scores"]["text"] for one in search("walrus")}

    assert scores["projA:made"] == scores["projA:cut"] > 0
