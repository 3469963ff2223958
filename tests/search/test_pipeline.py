"""The whole way, on small real indexes."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from qms.index.sources import Source
from qms.memory.bodies import Kind
from qms.memory.errors import InvalidInputError
from qms.memory.filters import Filter
from qms.memory.limits import DEFAULT_LIMITS
from qms.models.in_use import Models
from qms.search.hits import Exact
from qms.search.outcome import Mode
from qms.search.pipeline import Found, search
from qms.search.profiles import ProfileName
from qms.search.query import Match, SearchQuery
from qms.store.options import VectorStatus
from tests.support.searching import NOW, Directions, changed, make_source, record

NORTH, EAST, UP = [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]


def run(
    sources: Source | Sequence[Source], text: str | None, models: Models | None = None, **given: Any
) -> Found:
    return search(
        [sources] if isinstance(sources, Source) else sources,
        SearchQuery(text=text, **given),
        models=models or Models(),
        limits=DEFAULT_LIMITS,
        now=NOW,
    )


def ids(found: Found) -> list[str]:
    return [result.id.removeprefix("p:") for result in found.results]


def reasons(found: Found) -> list[tuple[str, str]]:
    return [(one.stage, one.reason) for one in found.skipped]


RECORDS = [
    record("garden", "Roses are planted in the garden behind the house"),
    record("port", "The server listens on port 5080", tags=["network"]),
    record("backup", "Backups are written every night at three"),
]
VECTORS = {"garden": NORTH, "port": EAST, "backup": UP}


def test_words_find_an_entry_and_the_mode_says_that_only_they_did() -> None:
    found = run(make_source(RECORDS), "which port does the server listen on")
    assert ids(found)[0] == "port"
    assert found.mode is Mode.KEYWORD
    assert ("vector", "no embedder") in reasons(found)


def test_meaning_finds_what_no_word_does() -> None:
    models = Models(embedder=Directions({"flowers": NORTH}))
    found = run(make_source(RECORDS, VECTORS), "flowers", models)
    assert ids(found)[0] == "garden"
    assert found.mode is Mode.HYBRID


def test_a_hash_embedder_is_told_in_the_mode() -> None:
    models = Models(embedder=Directions({"flowers": NORTH}), is_hash=True)
    assert run(make_source(RECORDS, VECTORS), "flowers", models).mode is Mode.KEYWORD_HASH


def test_a_given_embedding_takes_the_place_of_the_texts() -> None:
    found = run(make_source(RECORDS, VECTORS), None, embedding=[0.0, 0.0, 3.0, 0.0])
    assert ids(found)[0] == "backup"


@pytest.mark.parametrize("text", [None, "…"])
def test_without_words_no_entry_lacks_one(text: str | None) -> None:
    source, wanted = make_source(RECORDS, VECTORS), Match.ALL
    found = run(source, text, match=wanted, embedding=[0.0, 0.0, 3.0, 0.0])
    assert ids(found)[0] == "backup"


@pytest.mark.attack(40)
@pytest.mark.parametrize(
    "embedding", [[1.0], [1.0] * 5, [float("nan")] * 4, [float("inf")] * 4, [0.0] * 4, []]
)
def test_an_embedding_that_does_not_fit_is_refused_by_name(embedding: list[float]) -> None:
    with pytest.raises(InvalidInputError) as caught:
        run(make_source(RECORDS, VECTORS), None, embedding=embedding)
    assert caught.value.details["field"] == "query.embedding"


def test_vectors_of_another_model_are_not_compared() -> None:
    embedder = Directions({"flowers": NORTH})
    embedder.model_id = "another"
    found = run(make_source(RECORDS, VECTORS), "flowers", Models(embedder=embedder))
    assert ids(found) == []
    assert found.mode is Mode.KEYWORD


def test_without_vectors_under_the_filter_only_words_were_compared() -> None:
    models = Models(embedder=Directions({"port": EAST}))
    source = make_source(RECORDS, {"garden": NORTH})

    found = run(source, "port", models, filter=Filter(any_tags=frozenset({"network"})))

    assert (ids(found), found.mode) == (["port"], Mode.KEYWORD)
    assert ("vector", "no entry in scope has a vector") in reasons(found)
    assert run(source, "port", models).mode is Mode.HYBRID


def test_an_entry_of_all_words_without_a_vector_was_not_compared() -> None:
    models = Models(embedder=Directions({"port": EAST}))

    found = run(make_source(RECORDS, {"garden": NORTH}), "port", models, match=Match.ALL)

    assert (ids(found), found.mode) == (["port"], Mode.KEYWORD)


def test_a_store_with_some_vectors_says_how_many_are_missing() -> None:
    models = Models(embedder=Directions({"flowers": NORTH}))
    status = VectorStatus(done=1, total=3, seconds_left=7)
    other = make_source([record("x", "text", project="q")], {}, project="q")
    source = make_source(RECORDS, {"garden": NORTH}, vector_status=status)

    found = run([source, other], "flowers", models)

    assert found.mode is Mode.HYBRID
    assert ("vector", "2 of 3 entries of p wait for their vectors") in reasons(found)
    assert found.vectors == status
    assert run(make_source(RECORDS, VECTORS), "flowers", models).vectors is None


def test_a_time_is_told_when_that_of_every_store_is_known() -> None:
    def total(*times: int | None) -> VectorStatus | None:
        statuses = [VectorStatus(done=0, total=2, seconds_left=one) for one in times]
        stores = [make_source(RECORDS, VECTORS, vector_status=status) for status in statuses]
        return run(stores, "port").vectors

    assert total(3, 5) == VectorStatus(done=0, total=4, seconds_left=5)
    assert total(3, None) == VectorStatus(done=0, total=4, seconds_left=None)


def test_a_filter_holds_for_words_and_for_meaning() -> None:
    models = Models(embedder=Directions({"server": EAST}))
    source = make_source(RECORDS, VECTORS)
    wanted = Filter(any_tags=frozenset({"network"}))
    assert ids(run(source, "server", models, filter=wanted)) == ["port"]
    assert ids(run(source, "server", models, filter=Filter(kind=Kind.FACT))) == []


def test_expired_entries_are_never_found() -> None:
    gone = record("gone", "port 5080", ttlUtc=(NOW - timedelta(seconds=1)).isoformat())
    assert ids(run(make_source([*RECORDS, gone]), "port 5080")) == ["port"]


def test_superseded_entries_are_found_only_when_asked_for() -> None:
    old = record("old", "The server listens on port 8080")
    new = record("new", "It is 5080", relations=[{"type": "supersedes", "targetId": "p:old"}])
    source = make_source([old, new], {"old": EAST, "new": NORTH}, superseded=frozenset({"p:old"}))
    models = Models(embedder=Directions({"server port": EAST}))
    assert "old" not in ids(run(source, "server port", models))
    assert ids(run(source, "server port", models, include_superseded=True))[0] == "old"


def test_an_entry_that_left_the_view_is_no_hit() -> None:
    source = make_source(RECORDS)
    smaller = make_source(RECORDS[:1])
    mixed = Source(view=smaller.view, columns=source.columns, keyword=source.keyword)
    assert ids(run(mixed, "port 5080")) == []


def test_neighbours_of_a_strong_hit_are_found_with_a_score_of_their_own() -> None:
    linked = record("linked", "Nothing in common")
    port = record("port", "port 5080", relations=[{"type": "ref", "targetId": "p:linked"}])
    back = record("back", "Unrelated", relations=[{"type": "ref", "targetId": "p:port"}])
    found = run(make_source([linked, port, back, *RECORDS[:1]]), "port 5080")
    assert ids(found)[0] == "port"
    assert set(ids(found)) == {"port", "linked", "back"}
    assert found.results[1].scores["graph"] == 1.0
    assert found.results[1].scores["text"] == 0.0


def test_relations_lead_from_one_store_into_another() -> None:
    port = record("port", "port 5080", relations=[{"type": "ref", "targetId": "shared:rule"}])
    rule = record("rule", "Nothing in common", project="shared")
    sources = [make_source([port]), make_source([rule], project="shared")]
    assert ids(run(sources, "port 5080")) == ["port", "shared:rule"]
    assert ids(run(sources[:1], "port 5080")) == ["port"]


def test_a_turn_is_found_by_the_turn_before_it() -> None:
    turns = [
        record("q", "Where did you plant the roses?", conversationId="c", role="user"),
        record("a", "Behind the house.", conversationId="c", role="assistant"),
        record("x", "Behind the house.", conversationId="d", role="assistant"),
    ]
    assert ids(run(make_source(turns), "roses"))[:2] == ["q", "a"]


def test_the_users_own_turn_comes_first_when_the_user_asks_about_himself() -> None:
    turns = [
        record("theirs", "roses in the garden", conversationId="c", role="assistant"),
        record("mine", "roses in the garden", conversationId="d", role="user"),
    ]
    assert ids(run(make_source(turns), "where are my roses"))[0] == "mine"


def test_an_id_comes_first_and_says_why() -> None:
    chatty = [record(f"c{number}", "about port port port") for number in range(5)]
    found = run(make_source([*RECORDS, *chatty]), "p:port port")
    assert ids(found)[0] == "port"
    assert found.results[0].exact is Exact.ID


def test_an_id_that_is_a_plain_word_is_called_by_this_word_alone() -> None:
    source = make_source(RECORDS)
    assert run(source, "which port is open").results[0].exact is None
    assert run(source, "port").results[0].exact is Exact.ID


def test_a_path_comes_first() -> None:
    records = [
        record("spec", "See docs/spec.md for details"),
        record("other", "spec md docs spec md docs docs spec"),
    ]
    found = run(make_source(records), "docs/spec.md")
    assert ids(found)[0] == "spec"
    assert found.results[0].exact is Exact.PATH


def test_a_quoted_phrase_comes_before_likeness() -> None:
    records = [
        record("words", "night every backups"),
        record("phrase", "a long text in which every night something else is told about roses"),
    ]
    models = Models(embedder=Directions({'backups "every night"': NORTH}))
    source = make_source(records, {"words": NORTH, "phrase": EAST})
    found = run(source, 'backups "every night"', models)
    assert ids(found) == ["phrase", "words"]
    assert found.results[0].exact is Exact.PHRASE


def test_all_words_must_match_when_asked_for() -> None:
    records = [record("both", "red roses"), record("one", "red cars")]
    models = Models(embedder=Directions({"red roses": EAST}))
    source = make_source(records, {"both": NORTH, "one": EAST})
    assert ids(run(source, "red roses", models, match=Match.ALL)) == ["both"]
    assert set(ids(run(source, "red roses", models))) == {"both", "one"}


def test_stores_of_different_size_are_fused_fairly() -> None:
    crowd = [record(f"n{number}", f"entry {number} about the harbour") for number in range(300)]
    large = make_source([*crowd, record("best", "zebra crossing rules")])
    small = make_source(
        [
            record("best", "zebra crossing rules", project="shared"),
            record("poor", "rules of the house", project="shared"),
        ],
        project="shared",
    )
    found = run([large, small], "zebra crossing rules")
    assert set(ids(found)[:2]) == {"best", "shared:best"}
    first, second = found.results[0].score, found.results[1].score
    assert second > 0.75 * first
    assert ids(found)[2] == "shared:poor"
    assert found.results[2].score < 0.6 * second


def test_a_query_that_asks_for_nothing_shows_what_was_changed_last() -> None:
    then = "2020-01-01T00:00:00Z"
    old = record("old", "x", timestamps={"createdUtc": then, "updatedUtc": then})
    found = run(make_source([old, *RECORDS]), "", filter=Filter())
    assert ids(found)[-1] == "old"
    assert "candidates" in {one.stage for one in found.skipped}
    assert ids(run(make_source(RECORDS), None, filter=Filter(tag="network"))) == ["port"]


def test_as_many_results_come_as_were_asked_for() -> None:
    source = make_source([record(f"r{number}", "roses") for number in range(9)])
    assert len(run(source, "roses", max_results=4).results) == 4


def test_an_explanation_lists_what_the_stages_computed() -> None:
    models = Models(embedder=Directions({"port": EAST}))
    found = run(make_source(RECORDS, VECTORS), "port", models, explain=True)
    explanation = found.results[0].explanation
    assert explanation is not None
    stages = {one.stage: one for one in explanation.stages}
    assert list(stages)[:3] == ["text", "vector", "graph"]
    assert list(stages)[-1] == "score"
    assert stages["fused"].rank == stages["score"].rank == 1
    assert stages["score"].score == pytest.approx(found.results[0].score, abs=1e-6)
    assert stages["priority"].weight == 0.04
    assert run(make_source(RECORDS), "port").results[0].explanation is None


def test_a_reranker_is_asked_and_its_absence_told() -> None:
    class Gardener:
        model_id = "gardener"

        def score(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
            return np.array([9.0 if "garden" in text else -9.0 for text in texts], np.float32)

    models = Models(embedder=Directions({"a port": EAST}), reranker=Gardener())
    source = make_source(RECORDS, VECTORS)
    found = run(source, "a port", models, profile=ProfileName.AGENT_CLI)
    assert ids(found) == ["garden"]
    assert "rerank" not in {one.stage for one in found.skipped}
    assert "rerank" in {one.stage for one in run(source, "port").skipped}


def test_a_profile_that_spreads_prefers_something_new() -> None:
    records = [record("a", "port one"), record("b", "port one two"), record("c", "port three")]
    source = make_source(records, {"a": NORTH, "b": NORTH, "c": EAST})
    models = Models(embedder=Directions({"port": [1, 0.9, 0, 0]}))
    assert ids(run(source, "port", models, profile=ProfileName.AGENT_CLI))[1] == "c"


def test_pinned_decides_between_equals() -> None:
    twins = [record("one", "same text"), changed(record("two", "same text"), pinned=True)]
    assert ids(run(make_source(twins), "same text"))[0] == "two"


@pytest.mark.attack(36)
@pytest.mark.attack(38)
@pytest.mark.parametrize(
    "text", ["(" * 3000, "NOT " * 1000, "*", "tag:x OR *", '"abc', "a^1e400", "/(a+)+$/", "\ud800"]
)
@pytest.mark.parametrize("profile", list(ProfileName))
def test_strange_texts_get_an_answer(text: str, profile: ProfileName) -> None:
    models = Models(embedder=Directions({text: NORTH}))
    found = run(make_source(RECORDS, VECTORS), text, models, profile=profile, explain=True)
    assert len(found.results) <= len(RECORDS)


def test_empty_stores_answer_nothing() -> None:
    assert ids(run(make_source([]), "port")) == []
    assert ids(run(make_source([], {}), "")) == []
    assert ids(run([], "port")) == []
