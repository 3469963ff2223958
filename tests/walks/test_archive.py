"""The archive, through the application: list, restore, purge, count."""

import pytest

from tests.conftest import EntryMaker
from tests.support.console import Console
from tests.support.house import Clock, Door, House


@pytest.fixture
def gone(as_writer: Door, entry: EntryMaker) -> str:
    """Return the id of an entry that was deleted."""
    made: str = as_writer("upsertEntry", entry=entry(title="gone", retention="short"))["id"]
    as_writer("deleteEntry", id=made)
    return made


@pytest.mark.parametrize("is_folded", [False, True])
def test_what_was_deleted_is_listed_before_and_after_the_fold(
    house: House, as_reader: Door, gone: str, is_folded: bool
) -> None:
    if is_folded:
        house.store().fold()

    assert as_reader("listArchive") == {
        "items": [
            {
                "id": gone,
                "kind": "fact",
                "title": "gone",
                "reason": "deleted",
                "by": "writer",
                "archivedUtc": "2026-03-01T12:00:00.000Z",
            }
        ],
        "nextCursor": None,
    }
    assert as_reader("stats")["archived"] == 1


def test_pages_go_from_the_last_archived_to_the_first(
    as_writer: Door, entry: EntryMaker, clock: Clock
) -> None:
    titles = [f"t{number}" for number in range(5)]
    for title in titles:
        made = as_writer("upsertEntry", entry=entry(title=title))["id"]
        as_writer("deleteEntry", id=made)
        clock.move(seconds=1)

    seen, cursor = [], None
    while True:
        answer = as_writer("listArchive", page={"size": 2, "cursor": cursor})
        seen += [item["title"] for item in answer["items"]]
        cursor = answer["nextCursor"]
        if cursor is None:
            break
    assert seen == titles[::-1]


@pytest.mark.attack(14)
def test_a_forged_cursor_is_refused(as_reader: Door, gone: str) -> None:
    refused = as_reader.fails("listArchive", page={"cursor": "forged"})

    assert refused.code == "invalidInput"


@pytest.mark.parametrize(
    ("wanted", "count"),
    [
        ({"reason": "deleted"}, 1),
        ({"reason": "expired"}, 0),
        ({"by": "writer"}, 1),
        ({"archivedAfter": "2026-03-01T12:00:00Z"}, 1),
        ({"archivedBefore": "2026-03-01T12:00:00Z"}, 0),
        ({"namespace": "other"}, 0),
    ],
)
def test_the_archive_is_filtered(
    as_reader: Door, gone: str, wanted: dict[str, str], count: int
) -> None:
    assert len(as_reader("listArchive", filter=wanted)["items"]) == count


def test_a_restored_entry_lives_without_an_end(as_curator: Door, gone: str, clock: Clock) -> None:
    restored = as_curator("restoreEntry", id=gone)
    clock.move(days=3650)

    found = as_curator("getEntry", id=gone)
    assert found == restored
    assert (found["entry"]["title"], found["entry"].get("ttlUtc")) == ("gone", None)
    assert found["entry"]["retention"] == "short"
    assert as_curator("gc") == {"expired": 0, "ids": []}


def test_the_last_version_is_restored_unless_told_otherwise(
    as_admin: Door, entry: EntryMaker, clock: Clock
) -> None:
    for title in ("first", "second"):
        as_admin("upsertEntry", entry=entry(id="same", title=title))
        as_admin("deleteEntry", id="same")
        clock.move(hours=1)

    assert as_admin("restoreEntry", id="same")["entry"]["title"] == "second"
    as_admin("deleteEntry", id="same")
    first = as_admin("restoreEntry", id="same", archivedUtc="2026-03-01T12:00:00Z")
    assert first["entry"]["title"] == "first"


def test_an_entry_that_lives_is_not_overwritten_by_its_past(
    as_curator: Door, gone: str, entry: EntryMaker
) -> None:
    as_curator("upsertEntry", entry=entry(id=gone, title="new life"))

    assert as_curator.fails("restoreEntry", id=gone).code == "conflict"
    assert as_curator("getEntry", id=gone)["entry"]["title"] == "new life"


def test_what_was_never_archived_is_not_found(as_curator: Door) -> None:
    assert as_curator.fails("restoreEntry", id="never").code == "notFound"


def test_a_purge_takes_what_is_older_and_leaves_the_rest(
    house: House, as_admin: Door, gone: str, entry: EntryMaker, clock: Clock
) -> None:
    clock.move(days=10)
    young = as_admin("upsertEntry", entry=entry())["id"]
    as_admin("deleteEntry", id=young)

    assert as_admin("purgeArchive", olderThanDays=5, dryRun=True) == {"purged": 1}
    assert as_admin("archiveStats")["archived"] == 2
    assert as_admin("purgeArchive", olderThanDays=5) == {"purged": 1}
    house.store().fold()
    assert [one["id"] for one in as_admin("listArchive")["items"]] == [young]


def test_a_purge_of_all_leaves_no_trace_in_the_file(
    house: House, as_admin: Door, gone: str
) -> None:
    assert as_admin("purgeArchive", all=True) == {"purged": 1}
    house.store().fold()

    assert house.entries_file().with_name("archive.jsonl").read_bytes() == b""
    assert as_admin("archiveStats")["archived"] == 0


def test_a_line_that_a_person_broke_survives_a_purge(
    house: House, as_admin: Door, gone: str
) -> None:
    house.store().fold()
    path = house.entries_file().with_name("archive.jsonl")
    path.write_bytes(b"{broken\n" + path.read_bytes())
    as_admin("purgeArchive", all=True)

    assert path.read_bytes() == b"{broken\n"


@pytest.mark.parametrize(
    ("command", "request_"),
    [("purgeArchive", {"all": True}), ("memory_archive_purge", {"older_than_days": 0})],
)
def test_who_purged_an_archive_is_written_down(
    house: House, as_admin: Door, gone: str, command: str, request_: dict[str, object]
) -> None:
    as_admin("purgeArchive", all=True, dryRun=True)
    as_admin(command, **request_)

    [record] = Console(house.client)("GET", "/audit?size=1")["items"]
    assert (record["user"], record["command"]) == ("admin", command)
    assert record["project"] == "projA"
    assert record["changes"] == [{"op": "purge", "id": "archive/projA", "version": None}]
    assert house.audit.verify() is None


@pytest.mark.parametrize("request_", [{}, {"all": True, "olderThanDays": 3}])
def test_a_purge_says_what_it_means(as_admin: Door, request_: dict[str, object]) -> None:
    refused = as_admin.fails("purgeArchive", **request_)

    assert (refused.code, refused.details["field"]) == ("invalidInput", "olderThanDays")


def test_the_archive_is_counted_by_reason(
    as_writer: Door, gone: str, entry: EntryMaker, clock: Clock
) -> None:
    as_writer("upsertEntry", entry=entry(ttlSeconds=1))
    clock.move(seconds=1)
    as_writer("gc")
    found = as_writer("archiveStats")

    assert found["byReason"] == {"deleted": 1, "expired": 1}
    assert found["bytes"] > 0


def test_whoever_restores_a_memory_does_not_become_its_author(house: House) -> None:
    line = b'{"id": "projA:by-hand", "kind": "note", "title": "By hand", "body": {"text": "x"}}\n'
    door = house.door("curator")
    house.store()
    house.entries_file().write_bytes(line)
    house.door("admin")("reloadStore")
    door("deleteEntry", id="by-hand")

    restored = door("restoreEntry", id="by-hand")["entry"]

    assert restored["title"] == "By hand"
    assert "agentId" not in restored


ENDED = '{"archivedUtc":"2026-01-01T00:00:00.000Z","reason":"deleted","by":"me","entry":%s}'

NO_ENTRIES = [
    '{"archivedUtc":5,"reason":[],"entry":{"id":"projA:odd"}}',
    '{"entry":null}',
    ENDED % '{"id":"projA:odd","kind":"note","body":{"text":"x"}}',
    ENDED % '{"id":"projA:odd","kind":"unknown","title":"t","body":{}}',
    ENDED % '{"id":"projA:odd","kind":"note","title":"t","body":5,"timestamps":{"createdUtc":'
    '"2026-01-01T00:00:00Z","updatedUtc":"2026-01-01T00:00:00Z"}}',
]


@pytest.mark.parametrize("line", NO_ENTRIES)
def test_a_line_that_is_no_archived_entry_is_left_out_and_reported(
    house: House, as_admin: Door, gone: str, line: str
) -> None:
    house.store().fold()
    path = house.entries_file().with_name("archive.jsonl")
    with path.open("a", encoding="utf-8") as file:
        file.write(line + "\n")

    assert [one["id"] for one in as_admin("listArchive")["items"]] == [gone]
    assert as_admin("archiveStats")["archived"] == 1
    assert len(as_admin("memory_archive_list")["archived"]) == 1
    assert as_admin.fails("restoreEntry", id="odd").code == "notFound"
    (problem,) = as_admin("verifyStore")["items"]
    assert (problem["file"], problem["line"]) == ("archive.jsonl", 2)
