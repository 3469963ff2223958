import pytest

from tests.conftest import EntryMaker
from tests.support.house import Clock, Door, House


def test_an_entry_comes_as_stored_with_its_project_and_version(
    as_reader: Door, as_writer: Door, entry: EntryMaker
) -> None:
    written = as_writer("upsertEntry", entry=entry(id="one", tags=["a"], priority=5))

    answer = as_reader("getEntry", id="projA:one")

    assert set(answer) == {"entry", "version"}
    assert answer["version"] == written["version"]
    assert list(answer["entry"]) == [
        "schemaVersion",
        "id",
        "project",
        "kind",
        "title",
        "body",
        "tags",
        "timestamps",
        "agentId",
    ]


def test_a_body_that_mentions_a_project_does_not_hide_the_entrys_own(
    as_writer: Door, entry: EntryMaker
) -> None:
    body = {"statement": "x", "project": "elsewhere"}
    as_writer("upsertEntry", entry=entry(id="one", body=body))

    stored = as_writer("getEntry", id="one")["entry"]

    assert stored["project"] == "projA"
    assert stored["body"] == body


@pytest.mark.parametrize("given", ["one", "projA:one", "PROJA:one"])
def test_an_id_is_found_by_its_local_part_and_in_any_case_of_the_project(
    as_writer: Door, entry: EntryMaker, given: str
) -> None:
    as_writer("upsertEntry", entry=entry(id="one"))

    assert as_writer("getEntry", id=given)["entry"]["id"] == "projA:one"


def test_an_absent_id_is_not_found(as_reader: Door) -> None:
    refusal = as_reader.fails("getEntry", id="projA:absent")

    assert (refusal.status, refusal.code) == (404, "notFound")
    assert refusal.details == {"id": "projA:absent"}


def test_an_expired_entry_is_gone_for_every_command(
    as_writer: Door, entry: EntryMaker, clock: Clock
) -> None:
    as_writer("upsertEntry", entry=entry(id="brief", retention="short"))
    as_writer(
        "upsertEntry",
        entry=entry(id="other", relations=[{"type": "ref", "targetId": "projA:brief"}]),
    )
    clock.move(hours=6)

    assert as_writer.fails("getEntry", id="brief").code == "notFound"
    assert as_writer.fails("patchEntry", id="brief", patch={}).code == "notFound"
    assert as_writer.fails("deleteEntry", id="brief").code == "notFound"
    assert as_writer.fails("relatedEntries", id="brief").code == "notFound"
    assert [node["id"] for node in as_writer("relatedEntries", id="other")["nodes"]] == [
        "projA:other"
    ]
    assert [item["id"] for item in as_writer("listEntries")["items"]] == ["projA:other"]


@pytest.mark.attack(11)
@pytest.mark.parametrize(
    ("command", "rest"), [("getEntry", {}), ("patchEntry", {"patch": {}}), ("deleteEntry", {})]
)
def test_an_id_of_another_project_is_answered_like_an_absent_one(
    house: House, entry: EntryMaker, command: str, rest: dict[str, object]
) -> None:
    admin = house.door("admin")
    admin.at("projB")("upsertEntry", entry=entry(id="there"))

    there = admin.fails(command, id="projB:there", **rest)
    absent = admin.fails(command, id="projB:gone!", **rest)
    nowhere = admin.fails(command, id="nowhere:gone", **rest)

    assert there.status == absent.status == nowhere.status == 404
    assert there.message.replace("projB:there", "X") == nowhere.message.replace("nowhere:gone", "X")
    assert admin.at("projB")("getEntry", id="there")["entry"]["id"] == "projB:there"
