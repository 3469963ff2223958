import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from qms.cli import output
from tests.cli.conftest import Terminal

if hasattr(os, "openpty"):
    from tests.support.terminal import on_a_terminal

needs_terminal = pytest.mark.skipif(
    not hasattr(os, "openpty"), reason="pseudo terminals are for POSIX"
)


@needs_terminal
@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_a_table_fits_the_terminal(files: Terminal, columns: int) -> None:
    for title in ("A title that goes on and on, " * 5, "寿司" * 40, "e\u0301" * 100):
        files.remember("text", "--title", title[:200], "--tag", "x" * 30)

    screen = on_a_terminal("list", columns=columns, environment={"NO_COLOR": "1"})

    note, *table = screen.text.splitlines()
    assert note.startswith("on the files in")
    assert len(table) == 4
    assert all(output.width(line) <= columns for line in table)
    assert all("…" in line for line in table[1:])


@needs_terminal
def test_colour_is_for_terminals_without_no_color(files: Terminal) -> None:
    assert "\x1b[31merror:" in on_a_terminal("get", "absent").text
    for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert "\x1b" not in on_a_terminal("get", "absent", environment=environment).text
    assert "\x1b" not in files("get", "absent").err


@needs_terminal
@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 1), ("\n", 1), ("\x04", 1)])
def test_a_person_is_asked_before_something_is_deleted(
    files: Terminal, answer: str, code: int
) -> None:
    files.remember("text", "--id", "a", "--title", "Precious\x1b[2J")

    screen = on_a_terminal("delete", "a", answers=answer, environment={"NO_COLOR": "1"})

    assert screen.code == code
    assert "Precious\\" in screen.text
    assert "\x1b" not in screen.text
    assert files("get", "a").code == (4 if code == 0 else 0)


@needs_terminal
def test_a_person_may_edit_a_bad_text_again(files: Terminal, tmp_path: Path) -> None:
    files.remember("text", "--id", "a")
    script = tmp_path / "editor.py"
    script.write_text(
        "import pathlib, sys\n"
        "path = pathlib.Path(sys.argv[1])\n"
        "text = path.read_text(encoding='utf-8')\n"
        "bad = text.replace('\"note\"', '\"note\"!')\n"
        "good = text.replace('!', '').replace('\"text\": \"text\"', '\"text\": \"better\"')\n"
        "path.write_text(good if '!' in text else bad, encoding='utf-8')\n",
        encoding="utf-8",
    )
    editor = shlex.join([sys.executable, str(script)])

    screen = on_a_terminal("edit", "a", answers="y\n", environment={"EDITOR": editor})

    assert screen.code == 0
    assert "entry: not JSON" in screen.text
    assert "Edit it again?" in screen.text
    assert files.ok("get", "a", "--json").json["entry"]["body"] == {"text": "better"}


def test_a_text_is_cut_by_columns_and_not_by_characters() -> None:
    assert output.cut("寿司寿司", 8) == "寿司寿司"
    assert output.cut("寿司寿司", 7) == "寿司寿…"
    assert output.cut("寿司寿司", 6) == "寿司…"
    assert output.width("e\u0301") == 1


def test_a_stream_that_is_not_unicode_gets_escapes_and_json_stays_json(files: Terminal) -> None:
    files.remember("ünïcode 😀", "--id", "a")

    def printed(*words: str) -> bytes:
        return subprocess.run(
            [sys.executable, "-m", "qms.cli.main", "get", "a", *words],
            env={**os.environ, "PYTHONIOENCODING": "cp1252"},
            check=True,
            capture_output=True,
        ).stdout

    assert json.loads(printed("--json"))["entry"]["title"] == "ünïcode 😀"
    assert "ünïcode \\U0001f600" in printed().decode("cp1252")
