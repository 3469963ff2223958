"""Taking back what an author wrote, and taking that back, through the application."""

import pytest

from tests.conftest import EntryMaker
from tests.support.house import Clock, Door, House


@pytest.fixture
def poisoned(as_writer: Door, as_admin: Door, entry: EntryMaker, clock: Clock) -> None:
    """Entries of two authors: the writer's are to go, from noon on."""
    as_writer("upsertEntry", entry=entry(id="early", title="early"))
    clock.move(hours=1)
    as_admin("upsertEntry", entry=entry(id="good", title="good"))
    as_writer("upsertEntry", entry=entry(id="bad1", title="bad 1"))
    as_writer("upsertEntry", entry=entry(id="bad2", title="bad 2"))
    as_writer("patchEntry", id="good", patch={"title": "good, bent"})


SINCE = "2026-03-01T12:30:00Z"


def ids(door: Door) -> set[str]:
    return {item["id"].removeprefix("projA:") for item in door("listEntries")["items"]}


def test_a_trial_names_what_would_go_and_what_was_bent(as_admin: Door, poisoned: None) -> None:
    trial = as_admin("forgetEntries", author="writer", since=SINCE, dryRun=True)

    assert trial["ids"] == ["projA:bad1", "projA:bad2"]
    assert trial["changed"] == ["projA:good"]
    assert trial["undoId"] is None
    assert ids(as_admin) == {"early", "good", "bad1", "bad2"}


def test_what_an_author_made_goes_in_one_change_and_comes_back_in_one(
    house: House, as_admin: Door, as_curator: Door, poisoned: None
) -> None:
    before = house.store().view.sequence
    lines = {one: record.line for one, record in house.store().view.records.items()}
    done = as_admin("forgetEntries", author="writer", since=SINCE)

    assert ids(as_admin) == {"early", "good"}
    assert house.store().view.sequence == before + 1
    house.store().fold()
    assert as_curator("undoForget", undoId=done["undoId"], dryRun=True)["restored"] == 2
    back = as_curator("undoForget", undoId=done["undoId"])
    assert (back["ids"], back["skipped"]) == (["projA:bad1", "projA:bad2"], [])
    assert {one: record.line for one, record in house.store().view.records.items()} == lines
    assert house.store().view.sequence == before + 2


def test_what_lives_again_is_left_alone_by_an_undo(
    as_admin: Door, entry: EntryMaker, poisoned: None
) -> None:
    done = as_admin("forgetEntries", author="writer")
    assert done["forgotten"] == 3
    as_admin("upsertEntry", entry=entry(id="bad1", title="made anew"))

    back = as_admin("undoForget", undoId=done["undoId"])
    assert back["skipped"] == ["projA:bad1"]
    assert as_admin("getEntry", id="bad1")["entry"]["title"] == "made anew"


def test_a_trial_of_an_undo_says_what_the_undo_does(
    as_curator: Door, entry: EntryMaker, clock: Clock
) -> None:
    for fields in ({"id": "stays"}, {"id": "ends", "ttlSeconds": 60}, {"id": "lapsed"}):
        as_curator("upsertEntry", entry=entry(**fields))
    done = as_curator("forgetEntries", filter={"createdAfter": "2026-03-01T12:00:00Z"})
    as_curator("upsertEntry", entry=entry(id="lapsed", title="made anew", ttlSeconds=60))
    clock.move(seconds=60)

    trial = as_curator("undoForget", undoId=done["undoId"], dryRun=True)

    assert trial["ids"] == ["projA:lapsed", "projA:stays"]
    assert trial["skipped"] == ["projA:ends"]
    assert as_curator("undoForget", undoId=done["undoId"]) == {**trial, "dryRun": False}


def test_an_undo_beyond_the_quota_brings_nothing_back(
    house: House, as_admin: Door, entry: EntryMaker
) -> None:
    house.reconfigure(lambda text: text.replace('slug = "projA"', 'slug = "projA"\nmaxEntries = 2'))
    for number in range(2):
        as_admin("upsertEntry", entry=entry(id=f"n{number}"))
    done = as_admin("forgetEntries", ids=["n0", "n1"])
    as_admin("upsertEntry", entry=entry(id="new"))

    assert as_admin.fails("undoForget", undoId=done["undoId"]).code == "tooLarge"
    assert ids(as_admin) == {"new"}


def test_an_agent_is_an_author_too(house: House, as_admin: Door, entry: EntryMaker) -> None:
    answer = house.client.request(
        "POST",
        "/api/v1/projA/upsertEntry",
        headers=[
            ("x-api-key", "qms_key_of_the_writer_for_tests"),
            ("x-agent-id", "ai:rogue"),
            ("content-type", "application/json"),
        ],
        chunks=[b'{"entry":{"id":"rogue","kind":"note","body":"x"}}'],
    )
    assert answer.status == 200

    assert as_admin("forgetEntries", author="ai:rogue")["ids"] == ["projA:rogue"]


def test_an_undo_that_is_none_is_not_found(as_admin: Door) -> None:
    assert as_admin.fails("undoForget", undoId="x").code == "notFound"


def test_a_moment_without_an_author_is_refused(as_admin: Door) -> None:
    refused = as_admin.fails("forgetEntries", since=SINCE)

    assert (refused.code, refused.details["field"]) == ("invalidInput", "author")
