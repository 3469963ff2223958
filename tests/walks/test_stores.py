import json

import pytest

from tests.conftest import EntryMaker
from tests.support.console import Console
from tests.support.house import Door, House


@pytest.fixture
def emptied(house: House, as_admin: Door, entry: EntryMaker) -> House:
    """A store whose file was emptied by hand."""
    as_admin("bulkImport", entries=[entry(id=f"e{number}") for number in range(3)])
    house.store().fold()
    house.entries_file().write_bytes(b"")
    return house


def test_a_reload_takes_what_was_edited_by_hand(house: House, as_admin: Door) -> None:
    house.store()
    house.entries_file().write_text(
        '{"id":"projA:new","kind":"note","body":"By hand"}\n', encoding="utf-8"
    )

    report = as_admin("reloadStore")

    assert (report["added"], report["held"]) == (1, False)
    assert as_admin("getEntry", id="new")["entry"]["title"] == "By hand"


def test_a_reload_tries_a_store_again_that_could_not_be_opened(
    house: House, as_admin: Door
) -> None:
    house.entries_file().mkdir(parents=True)
    assert as_admin.fails("listEntries").code == "unavailable"
    house.entries_file().rmdir()

    as_admin("reloadStore")

    assert as_admin("listEntries")["items"] == []


def test_accepting_a_held_deletion_archives_what_is_missing(emptied: House, as_admin: Door) -> None:
    assert as_admin("reloadStore")["held"] is True
    assert len(as_admin("listEntries")["items"]) == 3

    report = as_admin("acceptHeld")

    assert (report["removed"], report["held"]) == (3, False)
    assert as_admin("listEntries")["items"] == []


def test_rejecting_a_held_deletion_writes_the_file_again(emptied: House, as_admin: Door) -> None:
    as_admin("reloadStore")

    assert as_admin("rejectHeld")["held"] is False

    emptied.store().fold()
    assert len(as_admin("listEntries")["items"]) == 3
    assert len(emptied.entries_file().read_bytes().splitlines()) == 3


@pytest.mark.parametrize(
    ("command", "decision"), [("acceptHeld", "accept"), ("rejectHeld", "reject")]
)
def test_the_audit_log_names_who_decided_on_a_held_deletion(
    emptied: House, as_admin: Door, command: str, decision: str
) -> None:
    as_admin("reloadStore")

    as_admin(command)

    records = Console(emptied.client)("GET", "/audit")["items"]
    (record,) = (one for one in records if one["command"] == command)
    assert (record["user"], record["project"], record["changes"][0]["op"]) == (
        "admin",
        "projA",
        decision,
    )


@pytest.mark.parametrize("command", ["acceptHeld", "rejectHeld"])
def test_there_is_nothing_to_decide_when_nothing_is_held(as_admin: Door, command: str) -> None:
    refusal = as_admin.fails(command)

    assert (refusal.status, refusal.code) == (409, "conflict")


def test_problems_name_the_line_and_the_reason(house: House, as_admin: Door) -> None:
    house.store()
    house.entries_file().write_text('{"kind":"rumour","body":"x"}\n', encoding="utf-8")
    as_admin("reloadStore")

    (problem,) = as_admin("listProblems")["items"]

    assert (problem["file"], problem["line"]) == ("entries.jsonl", 1)
    assert "rumour" in problem["reason"]


def test_conflicts_carry_the_version_that_lost(
    house: House, as_admin: Door, entry: EntryMaker
) -> None:
    as_admin("upsertEntry", entry=entry(id="a", title="Base"))
    house.store().fold()
    as_admin("patchEntry", id="a", patch={"title": "Ours"})
    path = house.entries_file()
    path.write_text(path.read_text(encoding="utf-8").replace("Base", "Theirs"), encoding="utf-8")
    as_admin("reloadStore")

    (conflict,) = as_admin("listConflicts")["items"]

    assert "Ours" in str(conflict)


def test_dismissed_conflicts_no_longer_degrade_the_health(
    house: House, as_admin: Door, entry: EntryMaker
) -> None:
    for project in ("projA", "projB", "shared"):
        house.store(project)
    for local in ("a", "b"):
        as_admin("upsertEntry", entry=entry(id=local, title="Base"))
    house.store().fold()
    for local in ("a", "b"):
        as_admin("patchEntry", id=local, patch={"title": f"Ours {local}"})
    path = house.entries_file()
    path.write_text(path.read_text(encoding="utf-8").replace("Base", "Theirs"), encoding="utf-8")
    as_admin("reloadStore")
    assert as_admin("health")["status"] == "Degraded"

    assert as_admin("dismissConflicts", ids=["a"]) == {"dismissed": 1, "left": 1}
    assert as_admin("dismissConflicts", ids=["a"]) == {"dismissed": 0, "left": 1}
    assert as_admin("dismissConflicts") == {"dismissed": 1, "left": 0}
    assert as_admin("listConflicts")["items"] == []
    assert as_admin("health")["status"] == "Healthy"
    archive = path.with_name("archive.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["entry"]["title"] for line in archive] == ["Ours a", "Ours b"]


def test_conflicts_of_another_project_cannot_be_dismissed(as_admin: Door) -> None:
    refusal = as_admin.fails("dismissConflicts", ids=["projB:a"])

    assert (refusal.status, refusal.code) == (404, "notFound")


def test_verifying_finds_relations_whose_target_is_gone(
    house: House, as_admin: Door, entry: EntryMaker
) -> None:
    relations = [{"type": "ref", "targetId": "projA:gone"}]
    as_admin("upsertEntry", entry=entry(id="a", relations=relations))

    (problem,) = as_admin("verifyStore")["items"]

    assert problem["code"] == "danglingRelation"
    assert "projA:gone" in problem["reason"]
