"""Contradictions, near duplicates and distinct facts under one title, through the application."""

from typing import Any

import pytest

from tests.support.house import Clock, Door, House


def said(door: Door, text: str, **fields: Any) -> Any:
    return door("upsertEntry", entry={"kind": "fact", "body": text, **fields})


def test_a_write_names_what_it_may_contradict(as_writer: Door) -> None:
    first = said(as_writer, "The staging database listens on 5432")
    said(as_writer, "The cache is enabled")
    second = said(as_writer, "The staging database listens on 5433")

    assert first["contradictions"] == []
    assert second["contradictions"] == [first["id"]]


def test_contradictions_are_listed_in_the_order_of_their_ids(as_writer: Door) -> None:
    names = [f"e{number:02}" for number in range(12)]
    for number, name in enumerate(reversed(names)):
        relations = [{"type": "contradicts", "targetId": "projA:target"}]
        said(as_writer, f"Remark {number} of {name}", id=name, relations=relations)
    said(as_writer, "What all of them deny", id="target")

    items = as_writer("listContradictions")["items"]

    assert [one["id"] for one in items] == [f"projA:{name}" for name in names]


def test_an_update_is_looked_at_too_and_never_against_itself(as_writer: Door) -> None:
    first = said(as_writer, "The cache is enabled")["id"]
    second = said(as_writer, "The cache is enabled", title="Another title")["id"]
    changed = said(as_writer, "The cache is disabled", id=first)

    assert changed["contradictions"] == [second]


def test_what_is_gone_expired_or_replaced_contradicts_nothing(
    as_writer: Door, clock: Clock
) -> None:
    gone = said(as_writer, "The branch is main")["id"]
    as_writer("deleteEntry", id=gone)
    said(as_writer, "The branch is trunk", ttlSeconds=60)
    old = said(as_writer, "The branch is old")["id"]
    said(
        as_writer,
        "The branch is dev",
        relations=[{"type": "supersedes", "targetId": old}],
        ttlSeconds=120,
    )
    clock.move(seconds=60)
    replaced = said(as_writer, "The branch is master")

    assert len(replaced["contradictions"]) == 1


def test_claims_of_before_a_restart_are_known(tmp_path: Any, clock: Clock) -> None:
    first = House(tmp_path, clock)
    made = said(first.door("writer"), "The cache is enabled")["id"]
    first.close()
    second = House(tmp_path, clock)
    try:
        assert said(second.door("writer"), "The cache is disabled")["contradictions"] == [made]
    finally:
        second.close()


def test_at_most_five_are_named_the_last_first(as_writer: Door) -> None:
    made = [said(as_writer, f"The timeout is {number}")["id"] for number in range(8)]
    answer = said(as_writer, "The timeout is 100")

    assert answer["contradictions"] == made[:-6:-1]


def test_stated_and_suspected_contradictions_are_listed_once(
    as_writer: Door, as_reader: Door
) -> None:
    one = said(as_writer, "The cache is enabled")["id"]
    two = said(as_writer, "The cache is disabled", namespace=None)["id"]
    three = said(as_writer, "Kim likes tea")["id"]
    four = said(as_writer, "Kim hates tea")["id"]
    as_writer("linkEntries", sourceId=four, targetId=three, type="contradicts")
    answer = as_reader("listContradictions")

    assert [item["reason"] for item in answer["items"]] == ["stated", "negation"]
    assert (answer["items"][0]["id"], answer["items"][0]["otherId"]) == (four, three)
    assert {answer["items"][1]["id"], answer["items"][1]["otherId"]} == {one, two}
    assert not answer["hasMore"]
    filtered = as_reader("listContradictions", filter={"createdBefore": "2020-01-01T00:00:00Z"})
    assert filtered["items"] == []


def test_the_winner_supersedes_the_loser_which_sinks_in_one_change(
    house: House, as_writer: Door, as_curator: Door
) -> None:
    loser = said(as_writer, "The cache is enabled")["id"]
    winner = said(as_writer, "The cache is disabled")["id"]
    sequence = house.store().view.sequence
    answer = as_curator("resolveContradiction", winner=winner, loser=loser)

    sunk = as_curator("getEntry", id=loser)["entry"]
    held = as_curator("getEntry", id=winner)
    assert house.store().view.sequence == sequence + 1
    assert (sunk["priority"], sunk["confidence"]) == (1, 0.1)
    assert [(one["type"], one["targetId"]) for one in held["entry"]["relations"]] == [
        ("supersedes", loser)
    ]
    assert answer == {"winner": winner, "loser": loser, "version": held["version"]}
    assert house.store().usage.counts[winner] == 2  # resolving used it, reading it too
    assert as_curator("listContradictions")["items"] == []
    found = as_curator("searchEntries", query={"text": "cache"}, include="ids")["results"]
    assert [one["entry"]["id"] for one in found] == [winner]


def test_resolving_again_changes_no_relation(as_curator: Door) -> None:
    loser, winner = said(as_curator, "It rains")["id"], said(as_curator, "It snows")["id"]
    for _ in range(2):
        as_curator("resolveContradiction", winner=winner, loser=loser)

    assert len(as_curator("getEntry", id=winner)["entry"]["relations"]) == 1


def test_a_contradiction_resolved_the_other_way_round_stays_so_when_the_loser_is_edited(
    as_curator: Door, clock: Clock
) -> None:
    one, other = said(as_curator, "It rains")["id"], said(as_curator, "It snows")["id"]
    as_curator("linkEntries", sourceId=one, targetId=other, type="ref")
    as_curator("resolveContradiction", winner=one, loser=other)
    as_curator("resolveContradiction", winner=other, loser=one)
    clock.move(hours=1)
    edited = as_curator("patchEntry", id=one, patch={"title": "It rained"})["entry"]

    assert [relation["type"] for relation in edited["relations"]] == ["ref"]
    found = as_curator("searchEntries", query={"text": "it"}, include="ids")["results"]
    assert [result["entry"]["id"] for result in found] == [other]


@pytest.mark.parametrize(
    ("winner", "loser", "code"),
    [("a", "a", "invalidInput"), ("a", "absent", "notFound"), ("absent", "a", "notFound")],
)
def test_what_cannot_be_resolved_changes_nothing(
    house: House, as_curator: Door, winner: str, loser: str, code: str
) -> None:
    said(as_curator, "It rains", id="a")
    before = house.store().view

    assert as_curator.fails("resolveContradiction", winner=winner, loser=loser).code == code
    assert house.store().view is before


def test_a_curator_resolves_nothing_against_a_canonical_entry(
    house: House, as_admin: Door, as_curator: Door
) -> None:
    said(as_admin, "It rains", id="a", curationTier="canonical")
    said(as_admin, "It snows", id="b")
    before = house.store().view

    refused = as_curator.fails("resolveContradiction", winner="b", loser="a")
    assert refused.code == "notAllowed"
    assert house.store().view is before


def embed_all(house: House) -> None:
    while house.indexer.work() == 0.0:
        pass


def test_near_duplicates_are_found_by_vectors_on_demand(house: House, as_writer: Door) -> None:
    one = said(as_writer, "The quick brown fox jumps over the lazy dog", title="Fox")["id"]
    two = said(as_writer, "The quick brown fox jumps over the lazy dogs", title="Fox again")["id"]
    said(as_writer, "Completely different words about databases", title="Other")
    as_writer("searchEntries", query={"text": "fox"})
    embed_all(house)
    answer = as_writer("findDuplicates", threshold=0.6)

    assert [{pair["a"], pair["b"]} for pair in answer["pairs"]] == [{one, two}]
    assert {answer["pairs"][0]["titleA"], answer["pairs"][0]["titleB"]} == {"Fox", "Fox again"}
    assert 0.6 <= answer["pairs"][0]["score"] <= 1
    assert answer["compared"] == 3
    assert as_writer("findDuplicates", threshold=0.6, filter={"tag": "x"})["pairs"] == []


def test_the_most_alike_pairs_come_first_and_no_more_than_asked_for(
    house: House, as_writer: Door
) -> None:
    for number in range(4):
        said(as_writer, f"the same words in every entry {'extra ' * number}", title=f"T{number}")
    as_writer("searchEntries", query={"text": "same"})
    embed_all(house)
    pairs = as_writer("findDuplicates", threshold=0.0, maxPairs=3)["pairs"]

    assert len(pairs) == 3
    assert [pair["score"] for pair in pairs] == sorted((p["score"] for p in pairs), reverse=True)


def facts(count: int) -> list[dict[str, Any]]:
    """Return distinct facts that share ten titles, many of them in all but one word."""
    return [
        {
            "kind": "fact",
            "title": f"Title {number % 10}",
            "body": {"statement": f"The value of setting {number % 97} is {number}"},
        }
        for number in range(count)
    ]


def check_distinct_facts(house: House, count: int) -> None:
    door = house.door("writer")
    made = [door("upsertEntry", entry=one) for one in facts(count)]
    assert all(answer["created"] for answer in made)
    assert len({answer["id"] for answer in made}) == len(house.store().view) == count

    again = [door("upsertEntry", entry=one) for one in facts(count)]
    assert [answer["duplicateOf"] for answer in again] == [answer["id"] for answer in made]
    for start in range(0, count, 1000):
        answer = door("bulkImport", entries=facts(count)[start : start + 1000])
        assert (answer["imported"], answer["updated"]) == (0, 0)
    stored = {record.document()["body"]["statement"] for record in records(house)}
    assert stored == {one["body"]["statement"] for one in facts(count)}


def records(house: House) -> list[Any]:
    return list(house.store().view.records.values())


def test_no_distinct_fact_is_dropped_or_merged_and_every_duplicate_recognised(
    house: House,
) -> None:
    check_distinct_facts(house, 1000)


@pytest.mark.long
def test_ten_thousand_distinct_facts_under_clashing_titles_are_all_kept(house: House) -> None:
    check_distinct_facts(house, 10_000)
