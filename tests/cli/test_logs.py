"""`memoryctl logs`: the latest lines, and those that come."""

import json
import time
from pathlib import Path

import pytest

from qms.cli.logs import lines_to_come
from tests.cli.conftest import Terminal


def write_log(ctl: Terminal) -> None:
    path = ctl.root / "logs" / "qms.log"
    path.parent.mkdir(exist_ok=True)
    lines = [
        {"time": "2026-01-01T00:00:00.000Z", "level": "info", "message": "began", "port": 1},
        {"time": "2026-01-01T00:00:01.000Z", "level": "error", "message": "a \x1b[31m disk"},
    ]
    path.write_text("".join(f"{json.dumps(one)}\n" for one in lines), encoding="utf-8")


def test_the_latest_lines_are_shown_from_a_level_on(files: Terminal) -> None:
    write_log(files)

    everything = files.ok("logs").out.splitlines()
    errors = files.ok("logs", "--level", "error", "--json").json["items"]

    assert "began port=1" in everything[0]
    assert "\x1b" not in everything[1]
    assert [one["level"] for one in errors] == ["error"]


def test_what_comes_is_followed_over_a_file_that_is_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "qms.log"
    path.write_text("old\n", encoding="utf-8")
    coming = lines_to_come(path)
    assert next(coming) == ""

    with path.open("a", encoding="utf-8") as file:
        file.write("one\ntw")
    assert [next(coming), next(coming)] == ["one", ""]
    with path.open("a", encoding="utf-8") as file:
        file.write("o\nthree\n")
    path.rename(tmp_path / "qms.log.1")
    path.write_text("four\n", encoding="utf-8")

    assert [next(coming) for _ in range(4)] == ["two", "three", "four", ""]
    coming.close()


def test_following_begins_with_the_latest_lines_and_ends_with_the_keyboard(
    files: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_log(files)
    added = {"time": "x", "level": "error", "message": "full disk"}
    pauses = 0

    def pause(_seconds: float) -> None:
        nonlocal pauses
        pauses += 1
        if pauses > 1:
            raise KeyboardInterrupt
        with (files.root / "logs" / "qms.log").open("a", encoding="utf-8") as file:
            file.write('{"level": "error"}\n' + json.dumps(added) + "\n")

    monkeypatch.setattr(time, "sleep", pause)

    done = files("logs", "--follow", "--json", "--level", "error", "--text", "DISK")

    assert done.code == 130
    shown = [json.loads(line)["message"] for line in done.out.splitlines()]
    assert shown == ["a \x1b[31m disk", "full disk"]


def test_a_server_elsewhere_cannot_be_followed(files: Terminal) -> None:
    done = files("logs", "--follow", "--url", "http://127.0.0.1:1")

    assert done.code == 2
    assert "--root" in done.err
