"""recall: what it finds, what it counts, and what follows from use, through the application."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qms.codec.documents import instant_text
from qms.domain.access import LOCAL_ADMIN
from qms.runtime.jobs import Jobs
from tests.support.house import Clock, Door, House
from tests.support.toon import read_toon

ABOUT = {"title": "Quokka", "body": {"statement": "The quokka lives on Rottnest"}}


def stored(door: Door, **fields: Any) -> str:
    made: str = door("upsertEntry", entry={"kind": "fact", **ABOUT, **fields})["id"]
    return made


def recall(door: Door, times: int = 1, **request: Any) -> Any:
    for _ in range(times):
        answer = door("recall", context="quokka on an island", **request)
    return answer


def fields_of(house: House, entry_id: str) -> dict[str, Any]:
    record = house.store().view.get(entry_id)
    assert record is not None
    return record.document()


def run_jobs(house: House) -> None:
    Jobs(house.catalog, lambda: house.configuration.settings, house.clock).tick()


def test_any_word_of_the_context_brings_an_entry(as_writer: Door, as_reader: Door) -> None:
    made = stored(as_writer)
    answer = as_reader("recall", context="where would a quokka like to swim")

    assert [result["entry"]["id"] for result in answer["results"]] == [made]
    assert answer["touched"] == [made]
    assert answer["omitted"] == 0


def test_what_only_fills_the_answer_is_not_used(house: House, as_writer: Door) -> None:
    meant = stored(as_writer, retention="mid")
    beside = stored(
        as_writer, title="Parser", body={"statement": "We ship it on Mondays"}, retention="mid"
    )
    answer = recall(as_writer, times=10)

    assert [result["entry"]["id"] for result in answer["results"]] == [meant, beside]
    assert answer["touched"] == [meant]
    assert fields_of(house, meant).get("retention", "long") == "long"
    assert fields_of(house, beside).items() >= {"retention": "mid"}.items()
    assert "priority" not in fields_of(house, beside)


@pytest.mark.parametrize("limit", [0, 51, -1, 1.5, "5", None])
def test_a_limit_outside_one_to_fifty_is_refused(as_reader: Door, limit: Any) -> None:
    assert as_reader.fails("recall", context="x", limit=limit).details["field"] == "limit"


def test_ten_entries_come_unless_told_otherwise(as_writer: Door) -> None:
    for number in range(12):
        stored(as_writer, title=f"Quokka {number}")

    assert len(recall(as_writer)["results"]) == 10
    assert len(recall(as_writer, limit=50)["results"]) == 12


def test_a_context_beyond_a_limit_is_refused_by_its_own_name(as_reader: Door) -> None:
    refused = as_reader.fails("recall", context="x" * 5000)

    assert (refused.details["field"], refused.details["limit"]) == ("context", "queryBytes")
    assert as_reader.fails("recall", context="").details["field"] == "context"


def test_filter_profile_and_include_are_those_of_a_search(as_writer: Door) -> None:
    stored(as_writer, namespace="a")
    kept = stored(as_writer, namespace="b", title="Another")
    answer = recall(as_writer, filter={"namespace": "b"}, profile="aiMemory", include="ids")

    assert [result["entry"] for result in answer["results"]] == [{"id": kept}]


def test_what_the_budget_leaves_out_is_not_touched(house: House, as_writer: Door) -> None:
    for number in range(5):
        stored(as_writer, title=f"Quokka {number}")
    answer = recall(as_writer, maxTokens=300)

    assert 0 < len(answer["results"]) < 5
    assert set(house.store().usage.counts) == set(answer["touched"])


def test_rows_of_text_count_as_used_like_objects(house: House, as_writer: Door) -> None:
    made = stored(as_writer)
    answer = as_writer.send("recall", {"context": "quokka", "format": "toonCompact"})

    assert [row["id"] for row in read_toon(answer.body.decode()).memories] == [made]
    assert house.store().usage.counts[made] == 1


def test_without_touch_nothing_is_counted(house: House, as_reader: Door, as_writer: Door) -> None:
    stored(as_writer)

    assert recall(as_reader, touch=False)["touched"] == []
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
    assert recall(as_writer)["touched"] == [made]

    clock.move(milliseconds=1)
    assert recall(as_writer)["results"] == []


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
    house: House, as_writer: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = stored(as_writer, retention="mid")
    recall(as_writer, times=4)
    with monkeypatch.context() as broken:
        broken.setattr(house.disk, "sync_data", _refuse, raising=False)
        broken.setattr(house.disk, "write", _refuse)
        assert recall(as_writer)["touched"] == [made]

    assert fields_of(house, made)["retention"] == "mid"
    house.store().recover()
    run_jobs(house)
    assert "retention" not in fields_of(house, made)


def _refuse(*_arguments: Any, **_named: Any) -> int:
    raise OSError(28, "No space left on device")


READS: dict[str, dict[str, Any]] = {
    "recall": {"context": "quokka 3"},
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
    request = {"context": "quokka"}

    def recall_often(_thread: int) -> None:
        for _ in range(10):
            house.services.call(LOCAL_ADMIN, "projA", "recall", request)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(recall_often, range(4)))

    assert (house.store().usage.counts[made], fields_of(house, made)["priority"]) == (40, 9)
