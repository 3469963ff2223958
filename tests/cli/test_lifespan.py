"""memoryctl promote, gc, stats and namespaces, on a server and on files."""

from tests.cli.conftest import Terminal
from tests.support.terminal import on_a_terminal


def test_a_promoted_memory_lives_for_ever(ctl: Terminal) -> None:
    ctl.remember("this week", "--id", "a", "--retention", "mid")

    result = ctl.ok("promote", "a")

    assert result.line == "default:a"
    assert "it lives for ever" in result.err
    entry = ctl.ok("get", "a", "--json").json["entry"]
    assert "ttlUtc" not in entry


def test_promote_says_when_the_memory_ends_now(ctl: Terminal) -> None:
    ctl.remember("today", "--id", "a", "--retention", "short")

    result = ctl.ok("promote", "a", "--retention", "mid", "--json")

    assert result.json["entry"]["retention"] == "mid"
    assert result.json == ctl.api("default", "getEntry", id="a")


def test_a_stale_version_is_not_promoted(ctl: Terminal) -> None:
    ctl.remember("this week", "--id", "a", "--retention", "mid")

    assert ctl("promote", "a", "--if-version", "0" * 16).code == 5


def test_gc_takes_out_what_is_past_its_end_and_asks_first(files: Terminal) -> None:
    files.remember("stays", "--id", "a")
    files.remember("over", "--id", "b", "--ttl", "1d")
    files.stop()
    path = files.entries_file()
    text = path.read_text(encoding="utf-8")
    start = text.index('"ttlUtc":"') + len('"ttlUtc":"')
    path.write_text(f"{text[:start]}2020{text[start + 4 :]}", encoding="utf-8")

    assert files.ok("gc", "--dry-run", "--json").json == {"expired": 1, "ids": ["default:b"]}
    assert files("gc").code == 2
    assert files.ok("gc", "--yes").line == "default:b"
    assert "nothing is past its end" in files.ok("gc").err
    assert files.ok("archive", "list", "--json").json["items"][0]["reason"] == "expired"


def test_stats_count_and_print_what_the_api_answers(ctl: Terminal) -> None:
    ctl.remember("one", "--kind", "fact", "--namespace", "app", "--retention", "mid")
    ctl.remember("two", "--namespace", "app")

    shown = ctl.ok("stats").out

    assert shown.startswith("2 memories, ")
    for counted in ("mid", "fact", "app", "provisional"):
        assert counted in shown
    assert ctl.ok("stats", "--json").json == ctl.api("default", "stats")


def test_namespaces_are_listed_the_largest_first(ctl: Terminal) -> None:
    for text, namespace in (("a", "small"), ("b", "large"), ("c", "large")):
        ctl.remember(text, "--namespace", namespace)

    shown = [line.split() for line in ctl.ok("namespaces").out.splitlines()]

    assert shown == [["2", "large"], ["1", "small"]]
    assert ctl.ok("namespaces", "--json").json == ctl.api("default", "namespaces")


def test_an_empty_project_has_no_namespaces(files: Terminal) -> None:
    result = files.ok("namespaces")

    assert (result.out, "nothing found" in result.err) == ("", True)


def test_colours_are_for_terminals_only(files: Terminal) -> None:
    files.remember("one", "--namespace", "app")

    assert "\x1b[" not in files.ok("stats").out
    assert "\x1b[" in on_a_terminal("stats").text
