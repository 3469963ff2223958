"""`memoryctl init`, `status` and `config`."""

import stat
from pathlib import Path

import pytest

from tests.cli.conftest import Terminal


def key_file(ctl: Terminal) -> Path:
    return ctl.root / ".qms" / "memoryctl.key"


def test_a_root_that_was_made_is_worked_on_without_a_key_in_hand(
    files: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("QMS_KEY")
    files.ok("init")
    files.start()

    files.remember("with the key of the root")

    assert stat.S_IMODE(key_file(files).stat().st_mode) == 0o600


def test_a_new_root_is_made_once(files: Terminal, tmp_path: Path) -> None:
    root = str(tmp_path / "a" / "new root")

    first = files.ok("init", "--root", root, "--json")
    again = files.ok("init", "--root", root, "--json")

    assert (first.json["created"], again.json["created"]) == (True, False)
    assert "admin key: qms_" in first.err
    assert len(files.ok("keys", "list", "--root", root, "--json").json["items"]) == 2


def test_a_key_that_others_may_read_is_not_used(
    server: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.ok("init")
    monkeypatch.delenv("QMS_KEY")
    key_file(server).chmod(0o644)

    done = server("list")

    assert done.code == 3
    assert "chmod 600" in done.err


def test_a_folder_that_cannot_be_made_is_named(files: Terminal, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")

    done = files("init", "--root", str(tmp_path / "file" / "root"))

    assert done.code == 6
    assert "cannot be used" in done.err


def test_the_status_names_stores_and_what_is_wrong(ctl: Terminal) -> None:
    ctl.remember("one")

    shown, found = ctl.ok("status"), ctl.ok("status", "--json").json

    assert "default" in shown.out
    assert found["status"] in shown.out
    assert "default" in [one["name"] for one in found["stores"]]


def test_the_status_of_a_stopped_server_is_that_of_its_files(files: Terminal) -> None:
    files.remember("one")

    well = files.ok("status", "--json").json
    with files.entries_file().open("a", encoding="utf-8") as file:
        file.write("no JSON\n")
    spoiled = files.ok("status", "--json").json

    assert (well["status"], spoiled["status"]) == ("Healthy", "Degraded")
    assert {one["name"]: one["entries"] for one in well["stores"]} == {"shared": 0, "default": 1}


def test_the_status_can_wait_until_all_is_loaded(server: Terminal) -> None:
    assert server.ok("status", "--wait", "--json").json["status"] == "Healthy"


def test_a_configuration_is_valid_or_its_line_is_named(files: Terminal, tmp_path: Path) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_text("[global]\nlisten = 5\n", encoding="utf-8")

    refused = files("config", "validate", str(bad))

    assert files.ok("config", "validate", "--json").json["valid"]
    assert refused.code == 2
    assert "line 2" in refused.err


def test_the_configuration_is_shown_without_a_key(ctl: Terminal) -> None:
    shown = ctl.ok("config", "show").out

    assert "[users.admin]" in shown
    assert ctl.key not in shown
