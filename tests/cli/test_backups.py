"""memoryctl backup and backups, on a server and on files."""

import pytest

from qms.features.backups import queue
from tests.cli.conftest import Terminal


def test_a_backup_is_made_listed_verified_and_restored(ctl: Terminal) -> None:
    kept = ctl.remember("the kettle is blue", "--title", "kettle")
    made = ctl.ok("backup", "default", "--mode", "full", "--wait", "--json").json["jobs"][0]
    assert (made["state"], made["mode"]) == ("done", "full")
    ctl.ok("delete", kept, "--yes")

    listed = ctl.ok("backups", "list", "--project", "default")
    assert made["id"] in listed.out
    assert "1 entries" in ctl.ok("backups", "verify", made["id"]).out
    trial = ctl.ok("backups", "restore", "default", "--id", made["id"], "--dry-run")
    assert f"added: 1 {kept}" in trial.err
    assert ctl("get", kept).code == 4
    done = ctl.ok("backups", "restore", "default", "--id", made["id"], "--yes", "--json").json
    assert done["keptAs"].startswith("pre-restore-")
    assert "the kettle is blue" in ctl.ok("get", kept).out


def test_all_projects_are_backed_up_and_pruned(ctl: Terminal) -> None:
    for _ in range(2):
        ctl.ok("backup", "--all", "--mode", "full", "--wait")
    trial = ctl.ok("backups", "prune", "--keep", "1", "--dry-run", "--json").json
    assert {slug: len(ids) for slug, ids in trial["pruned"].items()} == {"shared": 1, "default": 1}

    ctl.ok("backups", "prune", "--keep", "1", "--yes")

    assert len(ctl.ok("backups", "list", "--json").json["items"]) == 2


def test_more_projects_than_jobs_are_remembered_are_all_backed_up(
    server: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "REMEMBERED_JOBS", 1)
    for number in range(4):
        server.ok("projects", "add", f"p{number}")

    done = server.ok("backup", "--all", "--wait", "--json").json

    assert [job["state"] for job in done["jobs"]] == ["done"] * 6
    assert len(server.ok("backups", "list", "--json").json["items"]) == 6


def test_nothing_to_prune_is_no_dry_run(files: Terminal) -> None:
    assert files.ok("backups", "prune", "--yes", "--json").json["dryRun"] is False
    assert files.ok("backups", "prune", "--dry-run", "--json").json["dryRun"] is True


def test_a_bad_backup_is_named_and_the_exit_code_says_so(files: Terminal) -> None:
    files.remember("something")
    made = files.ok("backup", "--wait", "--json").json["jobs"][0]["id"]
    path = files.root / "Backups" / made / "default" / "entries.jsonl"
    path.write_bytes(path.read_bytes().replace(b"something", b"nothing!!"))

    result = files("backups", "verify")

    assert result.code == 1
    assert "entries.jsonl does not match its hash" in result.out


def test_a_restore_names_what_it_needs(files: Terminal) -> None:
    assert files("backups", "restore", "default").code == 2
    assert files("backups", "restore", "default", "--id", "../x", "--yes").code == 4
    assert files("backup", "default", "--all").code == 2
    assert files("backups", "verify", "20260301T030000000000Z").code == 4


def test_the_latest_backup_is_the_last_that_was_asked_for(files: Terminal) -> None:
    none = files("backups", "restore", "default", "--id", "latest", "--yes")
    kept = files.remember("the kettle is blue", "--title", "kettle")
    files.ok("backup", "default", "--wait")

    for _ in range(2):  # the second time a copy of what was there is the newest
        files.ok("delete", kept, "--yes")
        files.ok("backups", "restore", "default", "--id", "latest", "--yes")

    assert none.code == 4
    assert "the kettle is blue" in files.ok("get", kept).out
