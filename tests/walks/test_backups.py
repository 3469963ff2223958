"""Backups, through the application: make, list, verify, restore, prune."""

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import EntryMaker
from tests.support.console import Console
from tests.support.house import Clock, Door, House


@pytest.fixture
def console(house: House) -> Console:
    return Console(house.client)


def folder_of(house: House, backup_id: str, project: str = "projA") -> Path:
    return house.root / "Backups" / backup_id / project


def titles(door: Door) -> list[str]:
    return sorted(item["title"] for item in door("listEntries")["items"])


def verified(console: Console, backup_id: str) -> Any:
    return console("POST", f"/backups/projA/{backup_id}/verify", {})


def restored(console: Console, **wanted: Any) -> Any:
    return console("POST", "/backups/projA/restore", wanted)


def test_the_first_backup_is_full_whatever_was_asked_for(
    house: House, as_admin: Door, entry: EntryMaker
) -> None:
    as_admin("upsertEntry", entry=entry(title="kept"))

    answer = as_admin("backupStore")

    assert answer == {"queued": True, "mode": "full", "backupId": answer["backupId"]}
    names = {path.name for path in folder_of(house, answer["backupId"]).iterdir()}
    assert names == {"entries.jsonl", "changes.jsonl", "config.toml", "manifest.json"}
    assert as_admin("backupStore")["mode"] == "differential"


def test_a_backup_holds_no_secret_of_the_configuration(house: House, as_admin: Door) -> None:
    made = folder_of(house, as_admin("backupStore")["backupId"])
    text = (made / "config.toml").read_text(encoding="utf-8")

    assert "[users.admin]" in text
    for user in house.configuration.settings.users.values():
        for key in user.keys:
            assert key.sha256 not in text


def test_a_chain_verifies_and_is_listed(
    as_admin: Door, console: Console, entry: EntryMaker, clock: Clock
) -> None:
    for number in range(3):
        as_admin("upsertEntry", entry=entry(title=f"t{number}"))
        as_admin("backupStore")
        clock.move(hours=1)

    items = console("GET", "/backups?project=projA")["items"]
    assert [item["mode"] for item in items] == ["full", "differential", "differential"]
    assert [item["entries"] for item in items] == [1, 2, 3]
    assert [item["parent"] for item in items] == [None, items[0]["id"], items[1]["id"]]
    for item in items:
        assert verified(console, item["id"])["good"]


def test_a_restore_says_first_what_it_would_change_and_then_does_it(
    house: House, as_admin: Door, console: Console, entry: EntryMaker, clock: Clock
) -> None:
    as_admin("upsertEntry", entry=entry(id="changed", title="before"))
    as_admin("upsertEntry", entry=entry(id="removed", title="gone"))
    made = as_admin("backupStore")["backupId"]
    clock.move(hours=1)
    as_admin("upsertEntry", entry=entry(id="changed", title="after"))
    as_admin("deleteEntry", id="removed")
    as_admin("upsertEntry", entry=entry(id="added", title="new"))

    trial = restored(console, id=made, dryRun=True)
    assert (trial["added"], trial["changed"], trial["removed"]) == (1, 1, 1)
    assert trial["addedIds"] == ["projA:removed"]
    assert trial["changedIds"] == ["projA:changed"]
    assert trial["removedIds"] == ["projA:added"]
    assert trial["keptAs"] is None
    changed, added, removed = trial["samples"]
    assert (changed["before"]["title"], changed["after"]["title"]) == ("after", "before")
    assert (added["before"], added["after"]["title"]) == (None, "gone")
    assert (removed["before"]["title"], removed["after"]) == ("new", None)
    assert titles(as_admin) == ["after", "new"]

    done = restored(console, id=made, ifVersion=trial["version"])
    assert titles(as_admin) == ["before", "gone"]
    assert {**done, "dryRun": True, "keptAs": None} == {**trial, "samples": []}

    back = restored(console, id=done["keptAs"])
    assert titles(as_admin) == ["after", "new"]
    assert verified(console, back["keptAs"])["good"]


def test_a_store_written_since_the_dry_run_is_a_conflict(
    as_admin: Door, console: Console, entry: EntryMaker
) -> None:
    made = as_admin("backupStore")["backupId"]
    trial = restored(console, id=made, dryRun=True)
    as_admin("upsertEntry", entry=entry(title="meanwhile"))

    wanted = {"id": made, "ifVersion": trial["version"]}
    assert console.fails("POST", "/backups/projA/restore", wanted).code == "conflict"
    assert titles(as_admin) == ["meanwhile"]


def test_a_restore_goes_back_to_a_moment_between_backups(
    as_admin: Door, console: Console, entry: EntryMaker, clock: Clock
) -> None:
    as_admin("backupStore")
    for number in range(4):
        clock.move(minutes=10)
        as_admin("upsertEntry", entry=entry(id="one", title=f"version {number}"))
        if number == 1:
            as_admin("backupStore")

    clock.move(hours=1)
    for number in (0, 2, 3, 1):
        minute = 15 + 10 * number
        done = restored(console, at=f"2026-03-01T12:{minute}:00Z")
        assert done["exact"]
        assert titles(as_admin) == [f"version {number}"]


def test_a_moment_before_all_backups_is_not_found(as_admin: Door, console: Console) -> None:
    as_admin("backupStore")

    refused = console.fails("POST", "/backups/projA/restore", {"at": "2026-02-01T00:00:00Z"})
    assert refused.code == "notFound"


def test_a_restore_is_one_audited_change_and_fills_the_archive(
    house: House, as_admin: Door, console: Console, entry: EntryMaker
) -> None:
    made = as_admin("backupStore")["backupId"]
    as_admin("upsertEntry", entry=entry(title="later"))
    restored(console, id=made)

    records = console("GET", "/audit?command=restoreBackup")["items"]
    assert [one["project"] for one in records] == ["projA", "projA"]
    assert [one.get("isEvent", False) for one in records] == [False, True]
    assert [one["reason"] for one in as_admin("listArchive")["items"]] == ["restored"]


@pytest.mark.attack(32)
@pytest.mark.parametrize("name", ["../../etc/passwd", "..", "x" * 300, "20260301T030000000000Z"])
def test_a_name_that_is_no_backup_is_not_found(as_admin: Door, console: Console, name: str) -> None:
    as_admin("backupStore")

    assert console.fails("POST", "/backups/projA/restore", {"id": name}).code == "notFound"


def test_a_closed_project_has_no_backups_for_an_admin_who_is_not_listed(console: Console) -> None:
    assert console.fails("GET", "/backups?project=closed").code == "notFound"
    assert console.fails("POST", "/backups", {"project": "closed"}).code == "notFound"
    ordered = console("POST", "/backups", {})
    assert {job["project"] for job in ordered["jobs"]} == {"projA", "projB", "shared"}


@pytest.mark.attack(8)
def test_an_admin_whom_a_project_lists_with_a_lower_tier_looks_at_its_backups_and_no_more(
    house: House, as_admin: Door, console: Console, entry: EntryMaker
) -> None:
    as_admin("upsertEntry", entry=entry(title="before"))
    made = as_admin("backupStore")["backupId"]
    as_admin("upsertEntry", entry=entry(title="after"))
    house.reconfigure(lambda text: text + '\n[permissions.projA]\nadmin = "reader"\n')

    assert [one["id"] for one in console("GET", "/backups?project=projA")["items"]] == [made]
    for path, wanted in (
        ("/backups", {"project": "projA"}),
        ("/backups/projA/restore", {"id": made}),
        ("/backups/prune", {"project": "projA", "keep": 1}),
        ("/held/projA", {"decision": "accept"}),
    ):
        refused = console.fails("POST", path, wanted)
        assert (refused.status, refused.code) == (403, "notAllowed")
        assert (refused.details["needs"], refused.details["has"]) == ("admin", "reader")
    ordered = console("POST", "/backups", {})
    assert {job["project"] for job in ordered["jobs"]} == {"projB", "shared"}
    assert set(console("POST", "/backups/prune", {})["pruned"]) == {"projB", "shared"}
    assert titles(house.door("reader")) == ["after", "before"]


def test_pruning_keeps_what_a_kept_backup_needs(
    as_admin: Door, console: Console, entry: EntryMaker, clock: Clock
) -> None:
    made = []
    for mode in ("full", "differential", "full", "differential", "differential"):
        as_admin("upsertEntry", entry=entry())
        made.append(as_admin("backupStore", mode=mode)["backupId"])
        clock.move(hours=1)

    trial = console("POST", "/backups/prune", {"project": "projA", "keep": 1, "dryRun": True})
    assert trial["pruned"] == {"projA": made[:2]}
    assert console("POST", "/backups/prune", {"project": "projA", "keep": 1})["pruned"] == {
        "projA": made[:2]
    }
    left = console("GET", "/backups?project=projA")["items"]
    assert [item["id"] for item in left] == made[2:]
    assert verified(console, made[4])["good"]


def test_bad_lines_of_a_person_are_in_the_backup_and_counted(
    house: House, as_admin: Door, console: Console, entry: EntryMaker
) -> None:
    as_admin("upsertEntry", entry=entry(title="good"))
    house.store().fold()
    path = house.entries_file()
    path.write_bytes(b"not json\n" + path.read_bytes())
    house.store().reload()
    made = as_admin("backupStore")["backupId"]

    assert b"not json\n" in (folder_of(house, made) / "entries.jsonl").read_bytes()
    assert verified(console, made)["entries"] == 1
    assert restored(console, id=made, dryRun=True)["unreadable"] == 1


def test_a_lost_change_log_is_made_up_for_by_comparing(
    house: House, as_admin: Door, console: Console, entry: EntryMaker
) -> None:
    for name in ("a", "b", "c"):
        as_admin("upsertEntry", entry=entry(id=name, title=name))
    as_admin("backupStore")
    as_admin("deleteEntry", id="a")
    as_admin("upsertEntry", entry=entry(id="b", title="b2"))
    house.catalog.remove("projA")
    (house.root / "MemoryStores" / "projA" / ".qms" / "changes.jsonl").unlink()
    house.catalog.register(["projA"])

    made = as_admin("backupStore")

    assert made["mode"] == "differential"
    assert verified(console, made["backupId"]) == {
        "project": "projA",
        "id": made["backupId"],
        "good": True,
        "entries": 2,
        "problem": None,
    }


def test_a_target_that_takes_no_backups_is_a_problem_of_health(
    house: House, as_admin: Door
) -> None:
    (house.root / "Backups").write_text("a file in the way", encoding="utf-8")
    house.queue.work()

    assert [one["code"] for one in as_admin("health")["problems"]] == ["backups"]
    assert as_admin.fails("backupStore").code == "unavailable"
    (house.root / "Backups").unlink()
    house.queue.work()
    assert as_admin("health")["problems"] == []


def test_backups_are_made_by_the_clock_and_pruned(
    house: House, as_admin: Door, console: Console, clock: Clock, entry: EntryMaker
) -> None:
    house.reconfigure(lambda text: text + '\n[global.backup]\ntimeZone = "UTC"\nkeep = 2\n')
    queue = house.queue
    queue.work()
    assert as_admin("health")["nextBackupUtc"] == "2026-03-02T03:00:00.000Z"
    assert console("GET", "/backups")["items"] == []

    for _ in range(9):
        clock.move(days=1)
        as_admin("upsertEntry", entry=entry())
        queue.work()
    modes = [one["mode"] for one in console("GET", "/backups?project=projA")["items"]]
    assert modes == ["full", "differential"]
    assert len(console("GET", "/backups?project=shared")["items"]) == 2


def test_a_run_that_was_missed_is_made_up_for(
    house: House, as_admin: Door, console: Console, clock: Clock
) -> None:
    as_admin("backupStore")
    clock.move(days=3)
    house.queue.work()

    assert len(console("GET", "/backups?project=projA")["items"]) == 2


def test_the_schedule_is_shown_and_changed_in_the_file(house: House, console: Console) -> None:
    before = console("GET", "/backups")
    wanted = {"cadence": "30 4 * * 1", "timeZone": "UTC", "mode": "full", "keep": 5}

    console("PUT", "/backups/schedule", {**wanted, "ifVersion": before["version"]})

    after = console("GET", "/backups")
    assert after["schedule"] == wanted
    assert after["nextRunUtc"].endswith("T04:30:00.000Z")
    assert "30 4 * * 1" in house.toml.read_text(encoding="utf-8")
    (record,) = console("GET", "/audit?command=setBackupSchedule")["items"]
    assert record["changes"][0]["id"] == "backups/schedule"


def test_a_schedule_that_nobody_can_keep_is_refused(house: House, console: Console) -> None:
    wanted = {"cadence": "every night", "timeZone": "local", "mode": "full", "keep": 5}
    text = house.toml.read_text(encoding="utf-8")

    assert console.fails("PUT", "/backups/schedule", wanted).status == 400
    stale = {**wanted, "cadence": "", "ifVersion": "0" * 16}
    assert console.fails("PUT", "/backups/schedule", stale).status == 409
    assert house.toml.read_text(encoding="utf-8") == text
    console("PUT", "/backups/schedule", {**wanted, "cadence": ""})
    assert console("GET", "/backups")["nextRunUtc"] is None
