"""searchEntries through the real application: words at once, meaning soon after."""

from typing import Any

import pytest

from tests.support.house import Door, House


def found_ids(answer: dict[str, Any]) -> list[str]:
    return [result["entry"]["id"] for result in answer["results"]]


def search(door: Door, text: str, /, **query: Any) -> dict[str, Any]:
    answer: dict[str, Any] = door("searchEntries", query={"text": text, **query})
    return answer


def store(door: Door, entry_id: str, text: str, /, **fields: Any) -> str:
    entry = {"id": entry_id, "kind": "fact", "body": text, **fields}
    stored: str = door("upsertEntry", entry=entry)["id"]
    return stored


def test_a_search_sees_what_was_stored_just_before(as_writer: Door, as_reader: Door) -> None:
    for number in range(50):
        store(as_writer, f"n{number}", f"The parcel number {number} went to depot{number}")

        assert found_ids(search(as_reader, f"depot{number}"))[0] == f"projA:n{number}"


def test_a_changed_entry_is_found_by_its_new_words_only(as_writer: Door) -> None:
    store(as_writer, "a", "The meeting is in the amber room")
    search(as_writer, "amber")
    store(as_writer, "a", "The meeting is in the violet room")

    violet, amber = (search(as_writer, one, explain=True)["results"] for one in ("violet", "amber"))
    assert violet[0]["scores"]["text"] > 0
    assert all(one["scores"]["text"] == 0 for one in amber)


def test_a_deleted_entry_is_never_found(as_writer: Door) -> None:
    store(as_writer, "a", "The passphrase hint is walrus")
    assert found_ids(search(as_writer, "walrus")) == ["projA:a"]

    as_writer("deleteEntry", id="a")

    assert found_ids(search(as_writer, "walrus")) == []


def test_an_expired_entry_is_never_found(house: House, as_writer: Door) -> None:
    store(as_writer, "a", "A short lived zebra", retention="short")
    assert found_ids(search(as_writer, "zebra")) == ["projA:a"]

    house.clock.move(days=1)

    assert found_ids(search(as_writer, "zebra")) == []


def test_a_filter_holds_inside_the_search(as_writer: Door) -> None:
    store(as_writer, "a", "Lighthouse keeper", tags=["coast"])
    store(as_writer, "b", "Lighthouse plans", tags=["paper"])

    assert found_ids(search(as_writer, "lighthouse", filter={"tags": ["paper"]})) == ["projA:b"]


def test_the_shared_store_is_searched_beside_the_own_one(house: House, as_writer: Door) -> None:
    store(as_writer, "a", "Compass bearing of the old mill")
    store(house.door("admin", "shared"), "s", "Compass needs calibration")

    assert set(found_ids(search(as_writer, "compass"))) == {"projA:a", "shared:s"}
    assert found_ids(search(as_writer, "compass", includeShared=False)) == ["projA:a"]


def test_a_superseded_entry_is_out_unless_asked_for(as_writer: Door) -> None:
    store(as_writer, "old", "The ferry leaves at seven")
    relations = [{"type": "supersedes", "targetId": "projA:old"}]
    store(as_writer, "new", "The ferry leaves at eight", relations=relations)

    assert found_ids(search(as_writer, "ferry")) == ["projA:new"]
    assert set(found_ids(search(as_writer, "ferry", includeSuperseded=True))) == {
        "projA:new",
        "projA:old",
    }


@pytest.mark.attack(75)
def test_a_writer_only_proposes_to_supersede_what_is_more_trusted(
    as_writer: Door, as_admin: Door
) -> None:
    store(as_admin, "rule", "Deploys need two approvals", curationTier="canonical")
    relations = [{"type": "supersedes", "targetId": "projA:rule"}]
    store(as_writer, "mine", "Deploys need no approvals", relations=relations)

    assert "projA:rule" in found_ids(search(as_writer, "deploys approvals"))


def test_an_id_in_the_query_comes_first(as_writer: Door) -> None:
    store(as_writer, "ticket-4711", "Printer is out of toner")
    for number in range(5):
        store(as_writer, f"o{number}", "Someone mentioned projA ticket 4711 and the printer")

    first = search(as_writer, "projA:ticket-4711", explain=True)["results"][0]

    assert first["entry"]["id"] == "projA:ticket-4711"
    assert first["provenance"]["exact"] == "id"


def test_without_a_model_the_mode_says_so(as_writer: Door) -> None:
    store(as_writer, "a", "Anything at all")

    assert search(as_writer, "anything")["mode"] in ("keyword", "keyword+hash")


def test_explain_shows_the_score_of_every_stage(as_writer: Door) -> None:
    store(as_writer, "a", "Granite quarry schedule")

    result = search(as_writer, "quarry", explain=True)["results"][0]

    assert result["explanation"]
    assert {"text", "score"} <= set(result["scores"])
    assert "**quarry**" in result["snippet"]


def test_ten_results_are_lean_unless_an_explanation_is_asked_for(as_writer: Door) -> None:
    for number in range(10):
        text = f"quarry {number} " + "granite and slate for the northern harbour wall. " * 6
        store(as_writer, f"n{number}", text[:300], title=f"Quarry number {number}")
    text = "quarry granite harbour"

    plain = as_writer.send("searchEntries", {"query": {"text": text, "maxResults": 10}})
    explained = search(as_writer, text, maxResults=10, explain=True)["results"]

    assert len(plain.body) < 4_400
    results = plain.json["results"]
    assert len(results) == 10
    assert {*results[0]} == {"entry", "score", "snippet", "store"}
    assert {*explained[0]} == {*results[0], "scores", "provenance", "explanation"}


def test_a_token_budget_leaves_results_out_and_counts_them(as_writer: Door) -> None:
    for number in range(10):
        store(as_writer, f"n{number}", f"Harbour log entry {number}")

    answer = search(as_writer, "harbour", maxTokens=300)

    assert 0 < len(answer["results"]) < 10
    assert answer["omitted"] == 10 - len(answer["results"])


@pytest.mark.attack(36)
@pytest.mark.attack(38)
@pytest.mark.parametrize(
    "text",
    ["(" * 200, "(" * 3000, "NOT " * 900, "*", "tag:x OR *", '"abc', "a^1e400", "/(a+)+$/"],
)
def test_the_syntax_of_other_engines_is_plain_words(as_writer: Door, text: str) -> None:
    store(as_writer, "a", "abc")

    assert isinstance(search(as_writer, text)["results"], list)


@pytest.mark.parametrize("text", ["は", "?", " ", "…"])
def test_a_text_without_a_direction_is_searched_by_its_words(as_writer: Door, text: str) -> None:
    store(as_writer, "a", "は は は")

    assert isinstance(search(as_writer, text)["results"], list)


@pytest.mark.attack(37)
def test_a_query_beyond_its_limits_names_them(as_writer: Door) -> None:
    long = as_writer.fails("searchEntries", query={"text": "x" * 5000})
    many = as_writer.fails("searchEntries", query={"text": " ".join(f"w{n}" for n in range(80))})

    assert (long.status, long.details["limit"]) == (400, "queryBytes")
    assert (many.status, many.details["limit"]) == (400, "queryTerms")


@pytest.mark.attack(40)
@pytest.mark.parametrize("embedding", [[1.0, 2.0], ["a"] * 384, [1e400] * 384, [0.0] * 384])
def test_a_vector_that_does_not_fit_is_refused(as_writer: Door, embedding: list[Any]) -> None:
    store(as_writer, "a", "abc")

    refused = as_writer.fails("searchEntries", query={"embedding": embedding})

    assert refused.status == 400


@pytest.mark.attack(41)
@pytest.mark.parametrize("given", [-1, 0, 10**9, "1000000000", "five", 1.5])
def test_a_number_of_results_that_makes_no_sense_is_refused(as_writer: Door, given: Any) -> None:
    assert as_writer.fails("searchEntries", query={"text": "a", "maxResults": given}).status == 400


@pytest.mark.attack(12)
def test_a_store_that_the_key_does_not_open_is_not_searched(house: House, as_admin: Door) -> None:
    store(house.door("admin", "projB"), "x", "Unicorn stable inventory")
    store(as_admin, "y", "Unicorn feed")

    assert found_ids(search(as_admin, "unicorn")) == ["projA:y"]


def test_ten_results_for_entries_of_300_characters_are_less_than_4_kb(as_writer: Door) -> None:
    for number in range(10):
        text = f"The deploy of service {number} restarts the parser and warms its cache. " * 5
        entry = {"kind": "note", "title": f"How service {number} is deployed", "tags": ["deploy"]}
        as_writer("upsertEntry", entry={**entry, "body": {"text": text[:300]}})

    answer = as_writer.send("searchEntries", {"query": {"text": "deploy the parser"}})

    assert len(answer.json["results"]) == 10
    assert len(answer.body) < 4_000


def test_only_a_pinned_result_says_so(as_curator: Door) -> None:
    store(as_curator, "plain", "The parser reads lines")
    store(as_curator, "pinned", "The parser of dates is old", pinned=True)

    results = search(as_curator, "parser")["results"]

    said = {one["entry"]["id"]: one["entry"].get("pinned") for one in results}
    assert said == {"projA:plain": None, "projA:pinned": True}
