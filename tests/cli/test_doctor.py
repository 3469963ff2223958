"""`memoryctl doctor`: each thing that goes wrong is found and has its fix."""

import os
import socket
import stat
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from qms.cli import doctor as doctor_checks
from tests.cli.conftest import Terminal
from tests.support.environment import Environment
from tests.support.mounts import read_only


def test_a_new_root_has_no_problem(files: Terminal, environment: Environment) -> None:
    environment.pop("QMS_KEY")
    files.start()

    done = files.ok("doctor")

    assert [line for line in done.out.splitlines() if not line.startswith("ok ")] == []
    assert "key (none yet: `memoryctl init` creates one)" in done.out


def problems(ctl: Terminal, *words: str) -> dict[str, Any]:
    """Return what is wrong, by what was looked at; every one has a fix."""
    found = ctl("doctor", "--json", *words).json["findings"]
    wrong = {one["check"]: one for one in found if one["problem"]}
    assert all(one["fix"] for one in wrong.values())
    return wrong


@pytest.fixture(autouse=True)
def free_port(files: Terminal) -> int:
    """The root listens on a port that nobody has."""
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        port: int = tried.getsockname()[1]
    path = files.root / "QuickMemoryServer.toml"
    text = path.read_text(encoding="utf-8")
    assert ":5080" in text
    path.write_text(text.replace(":5080", f":{port}"), encoding="utf-8")
    return port


def test_a_root_that_is_well_has_nothing_fatal(files: Terminal) -> None:
    done = files.ok("doctor")

    assert "ok    folder" in done.out
    assert "ok    port" in done.out


def test_a_port_that_is_taken_is_named(files: Terminal, free_port: int) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", free_port))
        taken.listen()

        wrong = problems(files)

    assert str(free_port) in wrong["port"]["problem"]


def test_a_configuration_that_others_may_read_is_closed(files: Terminal) -> None:
    path = files.root / "QuickMemoryServer.toml"
    path.chmod(0o644)
    name = "rights on QuickMemoryServer.toml"

    assert files("doctor").code == 6
    assert "chmod 600" in problems(files)[name]["fix"]
    assert name not in problems(files, "--fix")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_bad_key_is_told_from_a_good_one(server: Terminal) -> None:
    assert "key" not in problems(server)
    assert "key" in problems(server, "--key", "qms_" + "x" * 43)


def test_a_configuration_that_is_broken_is_named(files: Terminal) -> None:
    (files.root / "QuickMemoryServer.toml").write_text("[global\n", encoding="utf-8")

    assert "config validate" in problems(files)["configuration"]["fix"]


def test_a_model_that_is_missing_is_not_fatal(files: Terminal) -> None:
    files.edit_settings("models/embeddings.onnx", "models/none.onnx")

    assert "none.onnx" in problems(files)["model"]["problem"]
    assert files("doctor").code == 0


def test_a_clock_that_is_behind_the_files_is_noticed(files: Terminal) -> None:
    later = 4_000_000_000
    os.utime(files.root / "QuickMemoryServer.toml", (later, later))

    assert "clock" in problems(files)


def test_few_watches_are_noticed(
    files: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "max_user_watches").write_text("100\n", encoding="ascii")
    monkeypatch.setattr(doctor_checks, "INOTIFY", tmp_path)

    assert "sysctl" in problems(files)["inotify"]["fix"]


@pytest.mark.needs("mount")
def test_a_folder_that_is_read_only_is_named(files: Terminal) -> None:
    with read_only(files.root):
        found = problems(files)

    assert "chmod" in found["folder"]["fix"]


def test_the_systems_own_python_is_named(
    files: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "EXTERNALLY-MANAGED").write_text("", encoding="utf-8")
    monkeypatch.setattr(sysconfig, "get_path", lambda _name: str(tmp_path))
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)

    assert "PEP 668" in problems(files)["python"]["problem"]


def test_memories_that_others_may_read_are_closed(files: Terminal) -> None:
    files.remember("one")
    path = files.entries_file()
    path.chmod(0o644)

    found = problems(files)["rights on memories"]

    assert str(path) in found["fix"]
    assert "rights on memories" not in problems(files, "--fix")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "one" in path.read_text(encoding="utf-8")


def test_a_key_that_stands_as_text_is_replaced_by_its_hash(files: Terminal) -> None:
    path = files.root / "QuickMemoryServer.toml"
    text = path.read_text(encoding="utf-8")
    key = "a-key-of-my-own-choice"
    path.write_text(f'{text}\n[users.joe]\ntier = "reader"\napiKey = "{key}"\n', encoding="utf-8")

    assert "joe" in problems(files)["keys"]["problem"]
    assert "keys" not in problems(files, "--fix")
    assert key not in path.read_text(encoding="utf-8")
    assert files.ok("keys", "list", "--user", "joe", "--json").json["items"]


def test_a_folder_that_is_missing_is_made(files: Terminal, tmp_path: Path) -> None:
    elsewhere = tmp_path / "disk" / "backups"
    files.edit_settings('backupRoot = "Backups"', f'backupRoot = "{elsewhere.as_posix()}"')

    assert "mkdir" in problems(files)["backups"]["fix"]
    assert "backups" not in problems(files, "--fix")
    assert elsewhere.is_dir()


def test_what_cannot_be_mended_is_said(files: Terminal, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    inside = tmp_path / "file" / "disk" / "backups"
    files.edit_settings('backupRoot = "Backups"', f'backupRoot = "{inside.as_posix()}"')

    done = files("doctor", "--fix")

    assert done.code == 6
    assert "could not be fixed" in done.err
