"""memoryctl stats and namespaces, on a server and on files."""

from tests.cli.conftest import Terminal
from tests.support.terminal import on_a_terminal


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

    assert (result.out, "no namespaces yet" in result.err) == ("", True)


def test_colours_are_for_terminals_only(files: Terminal) -> None:
    files.remember("one", "--namespace", "app")

    assert "\x1b[" not in files.ok("stats").out
    assert "\x1b[" in on_a_terminal("stats").text
