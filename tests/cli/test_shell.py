import re
import sys
from pathlib import Path

import pytest

from qms.cli import output
from qms.cli.line_input import LineInput
from qms.cli.shell_view import priority_bar
from tests.cli.conftest import Result, Terminal
from tests.support.environment import Environment
from tests.support.terminal import Screen, on_a_terminal

COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture(autouse=True)
def state(tmp_path: Path, environment: Environment) -> Path:
    """Where the history goes, instead of a person's own folder."""
    environment["XDG_STATE_HOME"] = str(tmp_path / "state")
    return tmp_path / "state" / "QuickMemoryServer" / "shell_history"


class Piped:
    """A shell that gets its lines through a pipe."""

    def __init__(self, ctl: Terminal) -> None:
        self._ctl = ctl

    def __call__(self, *lines: str, words: tuple[str, ...] = ()) -> Result:
        text = "".join(f"{line}\n" for line in lines)
        return self._ctl("shell", *words, typed=text.encode())


@pytest.fixture
def piped(files: Terminal) -> Piped:
    return Piped(files)


def on_screen(*lines: str, **environment: str) -> Screen:
    typed = "".join(f"{line}\n" for line in lines)
    return on_a_terminal("shell", answers=typed, environment=environment)


@pytest.mark.parametrize(
    ("word", "beginning"),
    [
        ("recall", "pg  Staging  "),
        ("r", "pg  Staging  "),
        ("search", "pg  [long] ████████░░ Staging"),
        ("s", "pg  [long] ████████░░ Staging"),
    ],
)
def test_memories_are_found_under_every_name_of_the_command(
    files: Terminal, piped: Piped, word: str, beginning: str
) -> None:
    files.remember(
        "Staging runs PostgreSQL 16", "--id", "pg", "--priority", "8", "--title", "Staging"
    )
    files.remember("Apples are red", "--id", "apples")

    result = piped(f"{word} postgresql staging")

    assert result.code == 0
    first = result.out.splitlines()[0]
    assert first.startswith(beginning)
    assert "**PostgreSQL** 16" in result.out


def test_recall_takes_any_word_and_search_takes_all(files: Terminal, piped: Piped) -> None:
    files.remember("Staging runs PostgreSQL 16", "--id", "pg")

    assert "pg  " in piped("recall postgresql zebra").out
    assert "nothing found" in piped("search postgresql zebra").err


@pytest.mark.parametrize("word", ["list", "ls"])
def test_a_list_can_be_of_one_namespace(files: Terminal, piped: Piped, word: str) -> None:
    files.remember("one", "--id", "a", "--namespace", "chats", "--retention", "short")
    files.remember("two", "--id", "b")

    result = piped(f"{word} chats")

    assert result.out == "a  [short] █████░░░░░ one  chats\n"
    assert len(piped(word).out.splitlines()) == 2


def test_one_memory_is_shown_as_json(files: Terminal, piped: Piped) -> None:
    files.remember("one", "--id", "a")

    assert piped("get a").json["entry"]["body"] == {"text": "one"}


@pytest.mark.parametrize("word", ["delete", "del", "rm"])
def test_a_memory_is_deleted_when_that_is_confirmed(
    files: Terminal, piped: Piped, word: str
) -> None:
    files.remember("one", "--id", "a")

    refused = piped(f"{word} a")
    assert refused.code == 2
    assert "--yes" in refused.err
    assert piped(f"{word} a --yes").code == 0

    assert files("get", "a").code == 4


def test_stats_and_namespaces_count(files: Terminal, piped: Piped) -> None:
    files.remember("one", "--namespace", "chats", "--retention", "mid")
    files.remember("two")

    result = piped("stats", "ns", "namespaces")

    assert "2 memories" in result.out
    assert re.search(r"mid +1$", result.out, re.MULTILINE)
    assert result.out.count("1  chats") == 2
    assert result.out.count("1  (none)") == 2


def test_a_server_is_asked_over_one_connection_like_files(server: Terminal, piped: Piped) -> None:
    server.remember("one", "--id", "a")

    result = piped("ls", "stats", "rm a --yes", "ls")

    assert result.code == 0
    assert result.out.count("a  [long]") == 1
    assert result.err.startswith("on the server")


def test_json_prints_what_the_api_answers(files: Terminal, piped: Piped) -> None:
    files.remember("one", "--id", "a")

    assert piped("stats", words=("--json",)).json["entries"] == 1


@pytest.mark.parametrize("word", ["quit", "exit", "q"])
def test_the_shell_ends_when_told_so(piped: Piped, word: str) -> None:
    result = piped(word, "stats")

    assert (result.code, result.out) == (0, "")


@pytest.mark.parametrize("word", ["help", "h"])
def test_help_names_every_command(piped: Piped, word: str) -> None:
    told = piped(word).out

    for name in ("recall, r", "search, s", "list, ls", "get", "stats", "namespaces, ns"):
        assert name in told
    assert "delete, del, rm" in told
    assert "quit, exit, q" in told


def test_a_bad_line_does_not_end_the_shell_and_is_not_forgotten(
    files: Terminal, piped: Piped
) -> None:
    files.remember("one", "--id", "a")

    result = piped("", "dance", "get", "get nothing-there", "use nowhere", "ls")

    assert result.code == 2
    assert result.err.count("error:") == 4
    assert "a  [long]" in result.out


def test_another_project_can_be_used(files: Terminal, piped: Piped) -> None:
    files.remember("shared one", "--id", "s", "--project", "shared")

    assert "s  [long]" in piped("use SHARED", "ls").out


@pytest.mark.attack(59)
def test_a_title_cannot_move_the_cursor(files: Terminal, piped: Piped) -> None:
    files.remember("text", "--id", "a", "--title", "\x1b[2Jgone\u202e")

    shown = piped("ls").out

    assert "\x1b" not in shown
    assert "\\x1b[2Jgone\\u202e" in shown


def test_a_terminal_has_a_prompt_colours_and_bars(files: Terminal) -> None:
    files.remember("one", "--id", "a", "--priority", "9", "--retention", "short")

    screen = on_screen("ls", "quit")

    assert screen.code == 0
    assert "memoryctl:default> " in screen.text
    assert "\x1b[31ma" in screen.text
    assert "\x1b[32m█████████░" in screen.text
    assert "a  [short] █████████░ one" in COLOUR.sub("", screen.text)


def test_a_terminal_completes_what_was_shown_and_obeys_no_color(files: Terminal) -> None:
    files.remember("one", "--id", "unusual-name")

    screen = on_screen("ls", "get unus\t", "namesp\t", "quit", NO_COLOR="1")

    assert '"text": "one"' in screen.text
    assert "1  (none)" in screen.text
    assert "\x1b[3" not in screen.text


def test_what_was_typed_is_there_next_time(files: Terminal, state: Path) -> None:
    on_screen("ls chats", "quit")

    assert "ls chats" in state.read_text(encoding="utf-8")
    assert state.stat().st_mode & 0o077 == 0
    again = on_screen("\x1b[A\x1b[A", "quit")
    assert again.text.count("ls chats") >= 1


def test_a_terminal_asks_before_it_deletes(files: Terminal) -> None:
    files.remember("one", "--id", "a")

    screen = on_screen("rm a", "n", "rm a", "y", "quit")

    assert "nothing was deleted" in screen.text
    assert "it is in the archive" in screen.text


def test_a_pipe_that_ends_with_quit_ends_with_the_code_of_the_first_failure(piped: Piped) -> None:
    done = piped("get nothing-there", "quit", "get never-read")

    assert done.code == 4
    assert "closed file" not in done.err
    assert "never-read" not in done.err


def test_without_readline_lines_are_still_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "readline", None)
    monkeypatch.setattr(output, "is_interactive", lambda: True)
    told = iter(["ls", "quit"])
    typed = LineInput(lambda _line, _word: [], tmp_path / "history")
    monkeypatch.setattr("builtins.input", lambda _prompt: next(told))

    lines = typed.lines(lambda: "> ")

    assert [next(lines), next(lines)] == ["ls", "quit"]
    typed.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("priority", "filled"), [(1, 1), (5, 5), (10, 10), (99, 10), (-1, 0)])
def test_a_bar_has_ten_cells(priority: int, filled: int) -> None:
    bar = priority_bar(priority)

    assert (bar.count("█"), len(bar)) == (filled, 10)


def test_remember_reads_standard_input(files: Terminal) -> None:
    entry_id = files.remember("-", typed="over the\npipe, ünïcode\n".encode())

    stored = files.ok("get", entry_id, "--json").json["entry"]
    assert stored["body"] == {"text": "over the\npipe, ünïcode"}
