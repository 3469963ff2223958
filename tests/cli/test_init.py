"""memoryctl init, and the key that it leaves."""

import stat
from pathlib import Path

from tests.cli.conftest import Terminal
from tests.support.environment import Environment


def key_file(ctl: Terminal) -> Path:
    return ctl.root / ".qms" / "memoryctl.key"


def test_a_root_that_was_made_is_worked_on_without_a_key_in_hand(
    files: Terminal, environment: Environment
) -> None:
    del environment["QMS_KEY"]
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


def test_a_key_that_others_may_read_is_not_used(server: Terminal, environment: Environment) -> None:
    server.ok("init")
    del environment["QMS_KEY"]
    key_file(server).chmod(0o644)

    done = server("list")

    assert done.code == 3
    assert "chmod 600" in done.err


def test_a_folder_that_cannot_be_made_is_named(files: Terminal, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")

    done = files("init", "--root", str(tmp_path / "file" / "root"))

    assert done.code == 6
    assert "cannot be used" in done.err
