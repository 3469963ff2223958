"""What the indexes bring, and what is known of it afterwards."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from qms.memory.filters import Filter
from qms.memory.limits import DEFAULT_LIMITS
from qms.search import candidates as stage
from qms.search.candidates import PER_INDEX, find_candidates, find_latest, find_vectors
from qms.search.hits import NOBODY, Candidates
from qms.search.query import Match, Question, SearchQuery, make_question
from tests.support.searching import NOW, make_hits, make_source, record

NORTH, EAST = [1, 0, 0, 0], [0, 1, 0, 0]


def ask(text: str, vector: Sequence[float] | None = None, **given: Any) -> Question:
    unit = None if vector is None else np.array(vector, np.float32)
    return make_question(SearchQuery(text=text, **given), DEFAULT_LIMITS, vector=unit, now=NOW)


def row(found: Candidates, local_id: str) -> int:
    return found.ids.index(f"p:{local_id}")


def test_every_candidate_gets_both_scores_whichever_way_it_came() -> None:
    records = [record("words", "red roses"), record("near", "something else")]
    source = make_source(records, {"words": EAST, "near": NORTH})
    (found,) = find_candidates([source], ask("roses", NORTH))
    assert found.text[row(found, "words")] > 0
    assert found.text[row(found, "near")] == 0
    assert found.vector[row(found, "words")] == pytest.approx(0, abs=1e-4)
    assert found.vector[row(found, "near")] == pytest.approx(1, abs=1e-4)
    assert found.moments.pieces == 2


def test_an_entry_without_a_vector_has_no_cosine() -> None:
    source = make_source([record("words", "roses"), record("near", "x")], {"near": NORTH})
    (found,) = find_candidates([source], ask("roses", NORTH))
    assert np.isnan(found.vector[row(found, "words")])


def test_turns_beside_a_hit_come_along_with_their_place_and_speaker() -> None:
    turns = [
        record(name, text, conversationId="c", role=role)
        for name, text, role in [("a", "x", "Ann"), ("b", "roses", "Bob"), ("c", "y", "Ann")]
    ]
    far = record("far", "z", conversationId="c", role="Bob")
    (found,) = find_candidates([make_source([*turns, far])], ask("roses"))
    a, b, c = (row(found, name) for name in "abc")
    assert len(found) == 3
    assert (found.previous[b], found.following[b]) == (a, c)
    assert found.previous[a] == found.following[c] == NOBODY
    assert len(set(found.conversation.tolist())) == 1
    assert found.roles[b] == "Bob"


def test_a_turn_that_the_filter_keeps_out_lends_nothing() -> None:
    turns = [
        record("a", "roses", conversationId="c", role="Ann"),
        record("b", "roses", conversationId="c", role="Bob", tags=["kept"]),
    ]
    (found,) = find_candidates([make_source(turns)], ask("roses", filter=Filter(tag="kept")))
    assert found.ids == ["p:b"]
    assert found.previous.tolist() == [NOBODY]


def test_moments_are_those_of_what_the_filter_lets_through() -> None:
    records = [record("a", "x", tags=["kept"]), record("b", "x")]
    source = make_source(records, {"a": NORTH, "b": EAST})
    (found,) = find_candidates([source], ask("", NORTH, filter=Filter(tag="kept")))
    assert found.moments.mean == pytest.approx(1, abs=1e-3)
    assert found.moments.pieces == 1


def test_with_all_words_wanted_only_words_bring_candidates() -> None:
    turns = [record("a", "red roses", conversationId="c"), record("b", "x", conversationId="c")]
    source = make_source(turns, {"a": EAST, "b": NORTH})
    (found,) = find_candidates([source], ask("red roses", NORTH, match=Match.ALL))
    assert found.ids == ["p:a"]
    assert not np.isnan(found.vector[0])


def test_a_weak_relation_lends_less() -> None:
    records = [
        record("strong", "x"),
        record("weak", "y"),
        record(
            "hit",
            "roses",
            relations=[
                {"type": "ref", "targetId": "p:strong"},
                {"type": "ref", "targetId": "p:weak", "weight": 0.25},
                {"type": "ref", "targetId": "p:absent"},
                {"type": "ref", "targetId": "elsewhere:x"},
            ],
        ),
    ]
    (found,) = find_candidates([make_source(records)], ask("roses"))
    assert found.graph[row(found, "strong")] == 1.0
    assert found.graph[row(found, "weak")] == 0.25
    assert len(found) == 3


@pytest.mark.parametrize("few", [100, 0], ids=["few have expired", "many have expired"])
def test_expired_entries_take_no_place_among_the_candidates(
    monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(stage, "PER_INDEX", 3)
    monkeypatch.setattr(stage, "FEW_EXPIRED", few)
    ended = (NOW - timedelta(seconds=1)).isoformat()
    gone = [record(f"gone{number}", "roses", ttlUtc=ended) for number in range(4)]
    here = record("here", "one rose among several other words, and roses")
    source = make_source([*gone, here], {one.header.id[2:]: NORTH for one in gone})

    (found,) = find_candidates([source], ask("roses", NORTH, max_results=3))

    assert found.ids == ["p:here"]


def test_a_near_entry_is_thought_to_hold_some_words_where_the_list_of_words_is_cut() -> None:
    most = PER_INDEX
    records = [record(f"r{number}", "roses and more roses") for number in range(most + 1)]
    source = make_source(records, {f"r{most}": NORTH})
    (found,) = find_candidates([source], ask("roses", NORTH, max_results=3))
    assert len(found) == most + 1
    assert found.text[row(found, f"r{most}")] == pytest.approx(found.text[row(found, "r0")] / 2)


def test_ideal_scores_are_asked_for_only_with_several_stores() -> None:
    first = make_source([record("a", "roses"), record("b", "cars"), record("c", "trains")])
    second = make_source([record("a", "cars", project="q")], project="q")
    assert find_candidates([first], ask("roses"))[0].ideal_text == 1.0
    found = find_candidates([first, second], ask("roses"))
    assert found[0].ideal_text > 0
    assert found[1].ideal_text > 0


def test_the_latest_entries_come_without_a_query() -> None:
    records = [record(f"r{number}", "x") for number in range(5)]
    (found,) = find_latest([make_source(records)], ask(""))
    assert len(found) == 5
    assert not found.text.any()


def test_vectors_of_hits_are_the_middle_of_their_pieces() -> None:
    records = [record("a", "x"), record("b", "y")]
    source = make_source(records, {"a": NORTH})
    assert source.vectors is not None
    source.vectors.put("p:a", np.array([NORTH, EAST], np.float32))
    found = find_vectors([source], make_hits(records), 4)
    assert found[0] == pytest.approx([0.7071, 0.7071, 0, 0], abs=1e-3)
    assert not found[1].any()


def test_the_latest_of_a_large_store_are_found_without_any_words() -> None:
    records = [record(f"r{number}", "some text") for number in range(stage.LATEST + 5)]
    (found,) = find_latest([make_source(records)], ask(""))
    assert len(found) == stage.LATEST
    assert not found.text.any()
