"""recall: what it finds, what it counts, and what follows from use, through the application."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qms.app.jobs import Jobs
from qms.memory.access import LOCAL_ADMIN
from qms.memory.validation import instant_text
from tests.support.disks import FullDisk
from tests.support.house import Clock, Door, House
from tests.support.toon import read_toon

ABOUT = {"title": "Quokka", "body": {"statement": "The quokka lives on Rottnest"}}


def stored(door: Door, **fields: Any) -> str:
    made: str = door("upsertEntry", entry={"kind": "fact", **ABOUT, **fields})["id"]
    return made


def recall(door: Door, times: int = 1, **request: Any) -> Any:
    for _ in range(times):
        answer = door("recall", query="quokka on an island", **request)
    return answer


def fields_of(house: House, entry_id: str) -> dict[str, Any]:
    record = house.store().view.get(entry_id)
    assert record is not None
    return record.document()


def run_jobs(house: House) -> None:
    Jobs(house.catalog, lambda: house.configuration.settings, house.clock).tick()


def used(house: House) -> list[str]:
    return sorted(house.store().usage.counts)


def ids(answer: Any) -> list[str]:
    return [memory["id"] for memory in answer["memories"]]


def test_any_word_of_the_query_brings_what_a_model_reads(
    house: House, as_writer: Door, as_reader: Door
) -> None:
    made = stored(as_writer, tags=["animals"])
    answer = as_reader("recall", query="where would a quokka like to swim")

    (memory,) = answer["memories"]
    assert memory.pop("score") > 0
    assert memory == {
        "id": made,
        "title": "Quokka",
        "text": "The quokka lives on Rottnest",
        "kind": "fact",
        "tags": ["animals"],
        "updatedUtc": "2026-03-01T12:00:00.000Z",
    }
    assert {**answer, "memories": []} == {"memories": [], "omitted": 0}
    assert used(house) == [made]


def test_what_only_fills_the_answer_is_not_used(house: House, as_writer: Door) -> None:
    meant = stored(as_writer, retention="mid")
    beside = stored(
        as_writer, title="Parser", body={"statement": "We ship it on Mondays"}, retention="mid"
    )
    answer = recall(as_writer, times=10)

    assert ids(answer) == [meant, beside]
    assert used(house) == [meant]
    assert fields_of(house, meant).get("retention", "long") == "long"
    assert fields_of(house, beside).items() >= {"retention": "mid"}.items()
    assert "priority" not in fields_of(house, beside)


@pytest.mark.parametrize("limit", [0, 51, -1, 1.5, "51", "five"])
def test_a_limit_outside_one_to_fifty_is_refused(as_reader: Door, limit: Any) -> None:
    assert as_reader.fails("recall", query="x", limit=limit).details["field"] == "limit"


def test_five_entries_come_unless_told_otherwise(as_writer: Door) -> None:
    for number in range(12):
        stored(as_writer, title=f"Quokka {number}")

    assert len(recall(as_writer)["memories"]) == 5
    assert len(recall(as_writer, limit=50)["memories"]) == 12


def test_a_query_beyond_a_limit_is_refused_by_its_own_name(as_reader: Door) -> None:
    refused = as_reader.fails("recall", query="x" * 5000)

    assert (refused.details["field"], refused.details["limit"]) == ("query", "queryBytes")
    assert as_reader.fails("recall", query="").details["field"] == "query"


def test_context_is_another_name_of_the_query(as_writer: Door) -> None:
    made = stored(as_writer)
    answer = as_writer("recall", context="quokka")

    assert ids(answer) == [made]
    assert answer["warnings"] == ["context was read as query"]


def test_the_flat_conditions_narrow_like_a_filter(as_writer: Door, clock: Clock) -> None:
    old = stored(as_writer, tags=["a", "b"])
    clock.move(days=1)
    new = stored(as_writer, kind="note", body="The quokka again", tags=["a"])
    turn = stored(
        as_writer,
        kind="conversationTurn",
        body={"content": "A quokka?", "conversationId": "c1"},
    )

    assert ids(recall(as_writer, tags=["a", "b"])) == [old]
    assert ids(recall(as_writer, kind="note")) == [new]
    assert set(ids(recall(as_writer, since="2026-03-02"))) == {new, turn}
    assert ids(recall(as_writer, conversationId="c1")) == [turn]
    assert ids(recall(as_writer, kind="fact", filter={"tags": ["b"]})) == [old]
    refused = as_writer.fails("recall", query="x", kind="fact", filter={"kind": "note"})
    assert refused.details["field"] == "filter"


def test_long_texts_are_cut_before_a_memory_is_left_out(as_writer: Door) -> None:
    long = "quokka " * 2000
    for number in range(4):
        stored(as_writer, title=f"Quokka {number}", body={"statement": f"{number} {long}"})
    short = stored(as_writer, title="Quokka", body={"statement": "A small quokka"})

    answer = recall(as_writer, maxTokens=1000)
    texts = {memory["id"]: memory["text"] for memory in answer["memories"]}

    assert (len(texts), answer["omitted"]) == (5, 0)
    assert texts.pop(short) == "A small quokka"
    assert all(text.endswith("…") and len(text) > 400 for text in texts.values())
    assert len(msgspec.json.encode(answer)) <= 4000


@pytest.mark.parametrize("tokens", [1, 40, 100, 250, 1000, 5000])
@pytest.mark.parametrize("text", ["quokka " * 2000, 'quokka \u0007"\\é漢' * 500])
def test_an_answer_is_never_larger_than_its_budget(as_writer: Door, text: str, tokens: int) -> None:
    for number in range(6):
        stored(as_writer, title=f"Quokka {number}", body={"statement": f"{number} {text}"})

    answer = as_writer.send("recall", {"query": "quokka", "maxTokens": tokens, "limit": 6})

    assert len(answer.json["memories"]) + answer.json["omitted"] == 6
    assert len(answer.body) <= max(tokens * 4, len(b'{"memories":[],"omitted":6}'))


@pytest.mark.parametrize(
    ("include", "fields"),
    [
        ("ids", {"id", "score"}),
        ("summary", {"id", "title", "kind", "tags", "updatedUtc", "score"}),
        ("snippet", {"id", "title", "text", "kind", "tags", "updatedUtc", "score"}),
        ("full", {"id", "title", "text", "kind", "tags", "updatedUtc", "score"}),
    ],
)
def test_include_says_how_much_of_a_memory_comes(
    as_writer: Door, include: str, fields: set[str]
) -> None:
    stored(as_writer)

    (memory,) = recall(as_writer, include=include)["memories"]

    assert set(memory) == fields


def test_filter_profile_and_include_are_those_of_a_search(as_writer: Door) -> None:
    stored(as_writer, namespace="a")
    kept = stored(as_writer, namespace="b", title="Another")
    answer = recall(as_writer, filter={"namespace": "b"}, profile="aiMemory", include="ids")

    assert ids(answer) == [kept]


def test_what_the_budget_leaves_out_is_not_touched(house: House, as_writer: Door) -> None:
    for number in range(5):
        stored(as_writer, title=f"Quokka {number}")
    answer = recall(as_writer, maxTokens=150)

    assert 0 < len(answer["memories"]) < 5
    assert used(house) == sorted(ids(answer))


def test_rows_of_text_count_as_used_like_objects(house: House, as_writer: Door) -> None:
    made = stored(as_writer)
    answer = as_writer.send("recall", {"query": "quokka", "format": "toonCompact"})

    assert [row["id"] for row in read_toon(answer.body.decode()).memories] == [made]
    assert house.store().usage.counts[made] == 1


def test_without_touch_nothing_is_counted(house: House, as_reader: Door, as_writer: Door) -> None:
    stored(as_writer)

    recall(as_reader, touch=False)

    assert dict(house.store().usage.counts) == {}


def test_use_is_counted_at_once_with_its_time(
    house: House, as_writer: Door, as_reader: Door, clock: Clock
) -> None:
    made = stored(as_writer)
    recall(as_reader, times=2)
    use = house.store().usage.of(made)

    assert use is not None
    assert (use.count, use.last_utc) == (2, clock.now)


def test_nothing_that_has_expired_is_recalled(as_writer: Door, clock: Clock) -> None:
    made = stored(as_writer, ttlSeconds=60, retention="long")
    clock.move(seconds=59, milliseconds=999)
    assert ids(recall(as_writer)) == [made]

    clock.move(milliseconds=1)
    assert recall(as_writer)["memories"] == []


@pytest.mark.parametrize(
    ("retention", "length", "extension"),
    [
        ("short", timedelta(hours=6), timedelta(hours=1)),
        ("mid", timedelta(days=7), timedelta(days=1)),
    ],
)
def test_the_end_is_the_later_of_the_old_one_and_now_with_the_extension(
    house: House,
    as_writer: Door,
    clock: Clock,
    retention: str,
    length: timedelta,
    extension: timedelta,
) -> None:
    made = stored(as_writer, retention=retention)
    end = clock.now + length
    clock.now = end - extension
    recall(as_writer)
    assert fields_of(house, made)["ttlUtc"] == instant_text(end)

    clock.now = end - timedelta(milliseconds=1)
    recall(as_writer)
    assert fields_of(house, made)["ttlUtc"] == instant_text(clock.now + extension)
    clock.now += extension - timedelta(milliseconds=1)
    assert as_writer.send("getEntry", {"id": made}).status == 200
    clock.move(milliseconds=1)
    assert as_writer.send("getEntry", {"id": made}).status == 404


def test_an_extension_by_seconds_waits_for_others_and_is_exact_all_the_same(
    house: House, as_writer: Door, clock: Clock
) -> None:
    made = stored(as_writer, retention="short")
    clock.move(hours=5, minutes=30)
    recall(as_writer)
    sequence = house.store().view.sequence
    clock.move(seconds=30)
    recall(as_writer)
    end = clock.now + timedelta(hours=1)
    assert house.store().view.sequence == sequence

    run_jobs(house)
    assert fields_of(house, made)["ttlUtc"] == instant_text(end)
    run_jobs(house)
    assert house.store().view.sequence == sequence + 1


def test_what_was_recalled_in_time_outlives_a_round_that_came_late(
    house: House, as_writer: Door, clock: Clock
) -> None:
    made = stored(as_writer, retention="short")
    clock.move(hours=5, minutes=30)
    recall(as_writer)
    clock.move(seconds=59)
    recall(as_writer)
    clock.move(hours=1, seconds=-1)

    run_jobs(house)
    assert as_writer.send("getEntry", {"id": made}).status == 200
    clock.move(seconds=1)
    run_jobs(house)
    assert made not in house.store().view.records


def test_mid_becomes_long_with_the_fifth_use_and_not_before(house: House, as_writer: Door) -> None:
    made = stored(as_writer, retention="mid")
    recall(as_writer, times=4)
    assert fields_of(house, made)["retention"] == "mid"

    recall(as_writer)
    promoted = fields_of(house, made)
    assert "retention" not in promoted
    assert "ttlUtc" not in promoted


def test_short_is_never_promoted_by_use(house: House, as_writer: Door) -> None:
    made = stored(as_writer, retention="short")
    recall(as_writer, times=12)

    assert fields_of(house, made)["retention"] == "short"


def test_every_tenth_use_raises_the_priority_and_ten_is_the_highest(
    house: House, as_writer: Door
) -> None:
    made = stored(as_writer, priority=8)
    recall(as_writer, times=9)
    assert fields_of(house, made)["priority"] == 8

    recall(as_writer)
    assert fields_of(house, made)["priority"] == 9
    recall(as_writer, times=30)
    assert fields_of(house, made)["priority"] == 10


def test_other_reads_count_and_the_next_recall_settles_them(house: House, as_writer: Door) -> None:
    made = stored(as_writer)
    for _ in range(10):
        as_writer("getEntry", id=made)
    assert "priority" not in fields_of(house, made)

    recall(as_writer, times=2)
    assert fields_of(house, made)["priority"] == 6


def test_rewards_are_not_given_again_after_a_restart(tmp_path: Path, clock: Clock) -> None:
    first = House(tmp_path, clock)
    made = stored(first.door("writer"))
    recall(first.door("reader"), times=11)
    first.close()

    second = House(tmp_path, clock)
    try:
        recall(second.door("reader"), times=2)
        assert fields_of(second, made)["priority"] == 6
    finally:
        second.close()


def test_a_permanent_entry_stays_as_it_is(house: House, as_admin: Door) -> None:
    made = stored(as_admin, isPermanent=True, retention="mid")
    before = fields_of(house, made)
    recall(as_admin, times=20)

    assert fields_of(house, made) == before


def test_what_follows_from_one_recall_is_one_audited_change_of_nobodys(
    house: House, as_writer: Door, as_reader: Door
) -> None:
    made = {stored(as_writer, title=f"Quokka {number}") for number in range(3)}
    recall(as_reader, times=9)
    sequence = house.store().view.sequence
    recall(as_reader)
    (change_set,) = [change for number, change in house.store().uncut() if number > sequence]

    assert (change_set.command, change_set.user) == ("touch", "system")
    assert {change.id for change in change_set.changes} == made
    house.audit.close()
    last = msgspec.json.decode((house.root / "logs/audit.jsonl").read_bytes().splitlines()[-1])
    assert last["command"] == "touch"


def test_use_makes_no_entry_newer(tmp_path: Path, clock: Clock) -> None:
    first = House(tmp_path, clock)
    used = stored(first.door("writer"), retention="mid")
    other = first.door("writer")("upsertEntry", entry={"kind": "note", "body": "other"})["id"]
    recall(first.door("writer"), times=5)

    def newest_first(house: House) -> list[str]:
        items = house.door("reader")("listEntries", include="ids")["items"]
        return [item["id"] for item in items]

    updated = fields_of(first, used)["timestamps"]["updatedUtc"]
    assert (updated, newest_first(first)) == ("2026-03-01T12:00:00.000Z", [other, used])
    first.client.close()

    replayed = House(tmp_path, clock)  # the journal was not folded: the first did not close
    try:
        assert newest_first(replayed) == [other, used]
    finally:
        replayed.close()


def test_a_shared_entry_is_used_in_its_own_store(house: House, as_reader: Door) -> None:
    shared = house.door("writer", "shared")
    made = stored(shared, retention="mid")
    recall(as_reader, times=5)

    record = house.store("shared").view.get(made)
    assert record is not None
    assert record.header.ttl_utc is None
    assert dict(house.store().usage.counts) == {}


def test_a_store_that_takes_no_writes_is_recalled_from_all_the_same(
    tmp_path: Path, clock: Clock
) -> None:
    disk = FullDisk()
    house = House(tmp_path, clock, disk=disk)
    as_writer = house.door("writer")
    made = stored(as_writer, retention="mid")
    recall(as_writer, times=4)
    disk.is_full = True
    assert ids(recall(as_writer)) == [made]
    disk.is_full = False

    assert fields_of(house, made)["retention"] == "mid"
    house.store().recover()
    run_jobs(house)
    assert "retention" not in fields_of(house, made)
    house.close()


READS: dict[str, dict[str, Any]] = {
    "recall": {"query": "quokka 3"},
    "getEntry": {"id": "q1"},
    "searchEntries": {"query": {"text": "quokka"}},
    "listEntries": {},
    "coldStart": {},
    "listCurated": {},
    "relatedEntries": {"id": "q1"},
    "summaries": {"ids": ["q1", "q2"]},
    "getLinks": {"id": "q1"},
    "stats": {},
    "namespaces": {},
    "listArchive": {},
    "archiveStats": {},
}


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    reads=st.lists(
        st.tuples(st.sampled_from(sorted(READS)), st.integers(0, 4 * 3600)), min_size=1, max_size=25
    )
)
def test_no_read_by_itself_changes_the_file(
    tmp_path_factory: pytest.TempPathFactory, reads: list[tuple[str, int]]
) -> None:
    house = House(tmp_path_factory.mktemp("house"), Clock())
    try:
        for number, retention in enumerate(["long", "mid", "short", "long"]):
            stored(house.door("writer"), id=f"q{number}", title=f"Q {number}", retention=retention)
        house.store().fold()
        file, reader = house.entries_file(), house.door("reader")
        for command, seconds in reads:
            before, sequence = file.read_bytes(), house.store().view.sequence
            house.clock.move(seconds=seconds)
            assert reader.send(command, READS[command]).status in (200, 404)
            assert file.read_bytes() == before
            followed = [one for number, one in house.store().uncut() if number > sequence]
            assert all(one.command == "touch" for one in followed)
            assert command == "recall" or not followed
            house.store().fold()
    finally:
        house.close()


def test_many_recalls_at_once_reward_each_use_once(house: House, as_writer: Door) -> None:
    made = stored(as_writer)
    recall(as_writer, touch=False)  # indexes are made by one thread
    request = {"query": "quokka"}

    def recall_often(_thread: int) -> None:
        for _ in range(10):
            house.gate.call(LOCAL_ADMIN, "projA", "recall", request)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(recall_often, range(4)))

    assert (house.store().usage.counts[made], fields_of(house, made)["priority"]) == (40, 9)
