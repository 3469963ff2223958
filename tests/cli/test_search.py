"""`memoryctl search` and `recall`, on a server and on files."""

import json
import os

import pytest

from tests.cli.conftest import Terminal

if hasattr(os, "openpty"):
    from tests.support.terminal import on_a_terminal

needs_terminal = pytest.mark.skipif(
    not hasattr(os, "openpty"), reason="pseudo terminals are for POSIX"
)


def test_the_best_memory_comes_first(ctl: Terminal) -> None:
    ctl.remember("The lighthouse keeper is called Ada", "--id", "keeper")
    ctl.remember("Buy milk and bread", "--id", "milk")

    lines = ctl.ok("search", "lighthouse keeper").out.splitlines()

    assert lines[0] == "The lighthouse keeper is called Ada"
    assert lines[1].split()[:2] == ["keeper", "note"]


def test_a_hit_has_two_lines_with_the_text_that_was_found(ctl: Terminal) -> None:
    ctl.remember("Ada keeps the lighthouse at night", "--id", "keeper", "--title", "People")

    title, found = ctl.ok("search", "lighthouse").out.splitlines()

    assert title == "People"
    assert found.split(maxsplit=3)[::3] == ["keeper", "Ada keeps the lighthouse at night"]


@needs_terminal
def test_a_terminal_shows_terms_in_bold_and_lines_that_fit(files: Terminal) -> None:
    files.remember("Ada keeps the lighthouse at night, " * 4, "--id", "keeper", "--title", "People")

    shown = on_a_terminal("search", "lighthouse", columns=60).text
    plain = on_a_terminal("search", "lighthouse", columns=60, environment={"NO_COLOR": "1"}).text

    assert "\x1b[1mlighthouse\x1b[0m" in shown
    assert "\x1b" not in plain
    assert "**" not in plain
    lines = plain.splitlines()
    place = lines.index("People")
    assert max(map(len, lines[place : place + 2])) <= 60


def test_json_is_the_answer_of_the_command(ctl: Terminal) -> None:
    ctl.remember("The lighthouse keeper is called Ada", "--id", "keeper", "--tag", "coast")

    found = json.loads(ctl.ok("search", "lighthouse", "--tag", "coast", "--json").out)

    assert [result["entry"]["id"] for result in found["results"]] == ["default:keeper"]
    # `vectors` is there while entries wait for theirs.
    assert {"results", "mode", "skipped", "omitted"} == set(found) - {"vectors"}


def test_a_person_is_told_what_was_not_compared_by_meaning(files: Terminal) -> None:
    files.remember("The lighthouse keeper is called Ada", "--id", "keeper")

    said = files.ok("search", "lighthouse").err

    assert "searched by keyword only, not by meaning\n" in said
    assert "1 of 1 entries of default wait for their vectors\n" in said
    assert "no embedding model is loaded" not in said


def test_explain_prints_the_stages(ctl: Terminal) -> None:
    ctl.remember("The lighthouse keeper is called Ada", "--id", "keeper")

    assert "fused" in ctl.ok("search", "lighthouse", "--explain").out


def test_recall_takes_any_word_and_counts_as_use(ctl: Terminal) -> None:
    ctl.remember("The lighthouse keeper is called Ada", "--id", "keeper", "--retention", "mid")
    ctl.remember("Buy milk", "--id", "milk", "--namespace", "home")

    found = ctl.ok("recall", "who keeps the lighthouse", "--json").json
    others = ctl.ok("recall", "lighthouse milk", "--namespace", "home", "--no-touch", "--json").json

    assert found["memories"][0]["id"] == "default:keeper"
    assert [one["id"] for one in others["memories"]] == ["default:milk"]


def test_the_fifth_recall_promotes_across_command_lines(ctl: Terminal) -> None:
    ctl.remember("The lighthouse keeper is called Ada", "--id", "keeper", "--retention", "mid")

    for _ in range(5):
        assert "keeper" in ctl.ok("recall", "lighthouse").out

    assert "ttlUtc" not in ctl.ok("get", "keeper", "--json").json["entry"]


def test_recall_answers_in_rows_on_request(ctl: Terminal) -> None:
    ctl.remember("The lighthouse keeper is called Ada", "--id", "keeper")

    assert "keeper" in ctl.ok("recall", "lighthouse", "--format", "toonCompact").out
    assert ctl("recall", "lighthouse", "--limit", "51").code == 2
