"""What an entry is moves its score."""

import math
from datetime import timedelta

import pytest

from qms.memory.entry import CurationTier, Retention, Timestamps
from qms.search.hits import Exact
from qms.search.profiles import PROFILES, ProfileName
from qms.search.weigh import weigh
from qms.store.view import Record
from tests.support.searching import NOW, changed, make_hits, record, traits_of

DEFAULT = PROFILES[ProfileName.DEFAULT]
AI_MEMORY = PROFILES[ProfileName.AI_MEMORY]
AGENT_CLI = PROFILES[ProfileName.AGENT_CLI]
PLAIN = record("plain", "text")


def aged(one: Record, days: float) -> Record:
    then = NOW - timedelta(days=days)
    return changed(one, timestamps=Timestamps(then, then))


def test_agent_cli_counts_recency_from_the_creation_and_the_others_from_the_last_change() -> None:
    edited = changed(record("edited", "text"), timestamps=Timestamps(NOW - timedelta(days=60), NOW))
    records = [edited, aged(record("newer", "text"), 1)]
    hits = make_hits(records, relevance=[0.5, 0.5])

    def order(name: ProfileName) -> list[str]:
        return list(weigh(hits, traits_of(records), PROFILES[name], now=NOW).ids)

    assert order(ProfileName.AGENT_CLI) == ["p:newer", "p:edited"]
    assert order(ProfileName.DEFAULT) == ["p:edited", "p:newer"]


def default_order(*records: Record, usage: tuple[int, ...] | None = None) -> list[str]:
    hits = make_hits(records, relevance=[0.5] * len(records))
    weighed = weigh(hits, traits_of(records, usage or ()), DEFAULT, now=NOW)
    return [i.removeprefix("p:") for i in weighed.ids]


def test_with_equal_properties_the_order_is_that_of_relevance() -> None:
    records = [record(name, "text") for name in "abcd"]
    hits = make_hits(records, relevance=[0.9, 0.89999, 0.1, -0.2])
    assert weigh(hits, traits_of(records), DEFAULT, now=NOW).ids == hits.ids


@pytest.mark.parametrize(
    "better",
    [
        {"pinned": True},
        {"priority": 9},
        {"curation_tier": CurationTier.CANONICAL},
    ],
)
def test_of_equally_relevant_entries_the_weightier_comes_first(better: dict[str, object]) -> None:
    assert default_order(PLAIN, changed(record("better", "text"), **better))[0] == "better"


@pytest.mark.parametrize("worse", [{"confidence": 0.2}, {"retention": Retention.SHORT}])
def test_of_equally_relevant_entries_the_doubtful_comes_last(worse: dict[str, object]) -> None:
    assert default_order(changed(record("worse", "text"), **worse), PLAIN)[0] == "plain"


def test_of_equally_relevant_entries_the_latest_and_the_most_read_come_first() -> None:
    assert default_order(aged(record("old", "text"), 60), PLAIN)[0] == "plain"
    assert default_order(PLAIN, record("read", "text"), usage=(0, 7))[0] == "read"


def test_no_properties_make_up_for_a_clear_lead_in_relevance() -> None:
    worst = changed(
        aged(record("worst", "text"), 4000),
        priority=1,
        confidence=0.0,
        retention=Retention.SHORT,
    )
    best = changed(
        record("best", "text"), priority=10, pinned=True, curation_tier=CurationTier.CANONICAL
    )
    hits = make_hits([best, worst], relevance=[0.5, 0.8])
    assert weigh(hits, traits_of([best, worst], [50, 0]), DEFAULT, now=NOW).ids[0] == "p:worst"


def test_ai_memory_adds_six_factors_and_blends_in_the_cosine() -> None:
    one = aged(changed(record("one", "t"), priority=8, confidence=0.5), 10)
    two = changed(record("two", "t"), retention=Retention.MID)
    hits = weigh(
        make_hits([one, two], text=[3.0, 9.0], relevance=[0, 0], vector=[0.7, 0.2]),
        traits_of([one, two], [80, 10]),
        AI_MEMORY,
        now=NOW,
    )
    first = 3.0 + 8 * 0.5 + 50 * 0.1 + 0.5 * 2 + 3.0 + 1 / (1 + 10 * 0.1)
    second = 9.0 + 5 * 0.5 + 10 * 0.1 + 1.0 * 2 + 1.0 + 1.0
    scores = dict(zip(hits.ids, hits.scores["score"].tolist(), strict=True))
    best = max(first, second)
    assert scores["p:one"] == pytest.approx(0.6 * 0.7 + 0.4 * first / best)
    assert scores["p:two"] == pytest.approx(0.6 * 0.2 + 0.4 * second / best)


def test_a_vector_that_points_away_costs_ai_memory_nothing() -> None:
    away, none = record("away", "t"), record("none", "t")
    hits = make_hits([away, none], text=[3.0, 3.0], relevance=[0, 0], vector=[-0.5, 0.0])
    weighed = weigh(hits, traits_of([away, none]), AI_MEMORY, now=NOW)
    assert weighed.scores["score"].tolist() == pytest.approx([0.4, 0.4])


def test_ai_memory_without_vectors_is_its_keyword_score() -> None:
    hits = make_hits([PLAIN], text=[3.0], relevance=[0], vector=[math.nan])
    assert weigh(hits, traits_of([PLAIN]), AI_MEMORY, now=NOW).scores["score"].tolist() == [1.0]


def test_agent_cli_mixes_relevance_and_recency_and_drops_what_is_not_relevant() -> None:
    records = [aged(record("a", "t"), 30), record("b", "t"), record("c", "t")]
    hits = make_hits(records, relevance=[0.9, 0.36, 0.34])
    weighed = weigh(hits, traits_of(records), AGENT_CLI, now=NOW)
    assert weighed.ids == ["p:a", "p:b"]
    expected = [0.8 * 0.9 + 0.2 * math.exp(-1), 0.8 * 0.36 + 0.2]
    assert weighed.scores["score"].tolist() == pytest.approx(expected)


def test_what_was_called_for_by_name_is_never_dropped() -> None:
    hits = make_hits([PLAIN], [Exact.ID], relevance=[0.0])
    assert len(weigh(hits, traits_of([PLAIN]), AGENT_CLI, now=NOW)) == 1


@pytest.mark.parametrize("best", [0.4, 2.5])
def test_scores_fall_down_the_list_and_what_was_called_for_is_certain(best: float) -> None:
    records = [record(name, "text") for name in ("id", "phrase", "lesser", "other")]
    exact = [Exact.ID, Exact.PHRASE, Exact.PHRASE, None]
    hits = make_hits(records, exact, relevance=[-0.1, 0.3, 0.1, best])
    weighed = weigh(hits, traits_of(records), DEFAULT, now=NOW)
    scores = weighed.scores["score"].tolist()
    assert weighed.ids == ["p:id", "p:phrase", "p:lesser", "p:other"]
    assert scores == sorted(scores, reverse=True)
    assert min(scores[:3]) >= 1.0
    assert scores[1] - scores[2] == pytest.approx(0.2)
    lifts = weighed.scores["exact"].tolist()
    assert scores[0] == pytest.approx(-0.1 + lifts[0] + scores[3] - best)
    assert math.isnan(lifts[3])


def test_an_entry_from_the_future_is_as_recent_as_one_of_now() -> None:
    future = aged(record("future", "t"), -400)
    hits = make_hits([future], relevance=[1.0])
    weighed = weigh(hits, traits_of([future]), AGENT_CLI, now=NOW)
    assert weighed.scores["recency"].tolist() == [1.0]
