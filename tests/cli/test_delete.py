"""memoryctl delete, on a server and on files."""

import json

from tests.cli.conftest import Terminal


def test_delete_moves_to_the_archive(ctl: Terminal) -> None:
    ctl.remember("text", "--id", "a")

    result = ctl.ok("delete", "a", "--yes")

    assert result.out == ""
    assert "a deleted; it is in the archive" in result.err
    assert ctl("get", "a").code == 4
    ctl.stop()
    archive = ctl.entries_file().with_name("archive.jsonl").read_text(encoding="utf-8")
    assert json.loads(archive)["entry"]["id"] == "default:a"


def test_delete_prints_the_object_that_the_api_answers(ctl: Terminal) -> None:
    ctl.remember("text", "--id", "a")

    assert ctl.ok("delete", "a", "--yes", "--json").json == {"deleted": True}


def test_delete_asks_and_without_anybody_there_refuses(ctl: Terminal) -> None:
    ctl.remember("text", "--id", "a", "--title", "Precious")

    result = ctl("delete", "a")

    assert result.code == 2
    assert "Precious" in result.err
    assert "hint: pass --yes" in result.err
    assert ctl("get", "a").code == 0


def test_a_dry_run_deletes_nothing(ctl: Terminal) -> None:
    ctl.remember("text", "--id", "a")
    ctl.remember("stays", "--id", "b", "--permanent")

    result = ctl("delete", "a", "b", "--dry-run", "--json")

    assert result.code == 5
    assert result.json["a"] == {"deleted": False}
    assert result.json["b"]["error"]["code"] == "conflict"
    assert ctl.ok("delete", "b", "--dry-run", "--force").code == 0
    assert ctl.ok("get", "a").code == ctl.ok("get", "b").code == 0


def test_partial_failure_is_failure(ctl: Terminal) -> None:
    for name in ("a", "b"):
        ctl.remember(name, "--id", name)

    result = ctl("delete", "a", "absent", "b", "--yes", "--json")

    assert result.code == 4
    assert result.json["a"] == result.json["b"] == {"deleted": True}
    assert result.json["absent"]["error"]["code"] == "notFound"
    assert "error: absent: there is no entry" in result.err


def test_a_permanent_entry_needs_force(ctl: Terminal) -> None:
    ctl.remember("stays", "--id", "a", "--permanent")

    assert ctl("delete", "a", "--yes").code == 5
    assert ctl("delete", "a", "--yes", "--force").code == 0


def test_one_version_fits_one_memory(files: Terminal) -> None:
    assert files("delete", "a", "b", "--if-version", "0" * 16, "--yes").code == 2
