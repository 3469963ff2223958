"""memoryctl rebuild: rebuilds indexes and shows progress, on a server and on files."""

import pytest

from qms.cli.progress import Progress
from tests.cli.conftest import Terminal
from tests.support.terminal import on_a_terminal


def filled(ctl: Terminal) -> Terminal:
    ctl.ok("remember", "An apple a day", "--id", "default:apple")
    ctl.ok("remember", "A pear at night", "--id", "default:pear")
    return ctl


@pytest.mark.parametrize("words", [[], ["--vectors"]])
def test_a_rebuild_is_watched_to_its_end_and_search_finds_the_same(
    ctl: Terminal, words: list[str]
) -> None:
    filled(ctl)

    result = ctl.ok("rebuild", "default", *words)

    assert result.out == "default: indexes rebuilt\n"
    assert "default: words: 100 %" in result.err
    assert ("default: vectors: 100 %" in result.err) is bool(words)
    assert ctl.ok("search", "pear").out.startswith("A pear at night\n  pear ")


def test_a_rebuild_prints_what_the_api_answers(ctl: Terminal) -> None:
    filled(ctl)

    alone = ctl.ok("rebuild", "default", "--vectors", "--json").json
    everything = ctl.ok("rebuild", "--json").json

    assert alone["queued"] is alone["vectors"] is True
    assert set(everything) == {"shared", "default"}
    assert everything["default"]["vectors"] is False


def test_a_project_that_is_not_there_is_named_and_others_are_made(ctl: Terminal) -> None:
    filled(ctl)

    result = ctl("rebuild", "default", "nowhere")

    assert result.code == 4
    assert "nowhere" in result.err
    assert result.out == "default: indexes rebuilt\n"


def test_a_terminal_shows_a_bar(files: Terminal) -> None:
    filled(files)

    screen = on_a_terminal("rebuild", "default")

    assert screen.code == 0
    assert "words [" in screen.text
    assert "2 of 2 entries" in screen.text


def test_without_a_terminal_few_lines_are_written(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress()

    for done in range(1001):
        progress.show("words", done, 1000, "entries")
    progress.end()

    lines = capsys.readouterr().err.splitlines()
    assert lines == [f"words: {share} %" for share in range(0, 101, 10)]
