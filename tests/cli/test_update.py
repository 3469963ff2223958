"""memoryctl update, on a server and on files."""

import pytest

from tests.cli.conftest import Terminal


def test_update_changes_named_fields_only(ctl: Terminal) -> None:
    ctl.remember("text", "--id", "a", "--tag", "x", "--priority", "9")

    result = ctl.ok("update", "a", "--title", "New", "--tag", "y", "--tag", "z")

    assert result.line == "default:a"
    entry = ctl.ok("get", "a", "--json").json["entry"]
    assert (entry["title"], entry["tags"], entry["priority"]) == ("New", ["y", "z"], 9)


def test_update_takes_a_body_a_patch_and_fields_to_clear(ctl: Terminal) -> None:
    ctl.remember("text", "--id", "a", "--namespace", "n", "--tag", "x")
    patch = b'{"metadata":{"a":1},"title":"from the patch"}'
    words = ("--patch", "-", "--body", "other", "--clear", "tags", "--title", "T")

    ctl.ok("update", "a", *words, typed=patch)

    entry = ctl.ok("get", "a", "--json").json["entry"]
    assert (entry["body"], entry["metadata"], entry["title"]) == ({"text": "other"}, {"a": 1}, "T")
    assert "tags" not in entry


def test_update_prints_the_object_that_the_api_answers(ctl: Terminal) -> None:
    ctl.remember("text", "--id", "a")

    printed = ctl.ok("update", "a", "--title", "T", "--json").json

    assert printed == ctl.api("default", "getEntry", id="a")


@pytest.mark.attack(74)
def test_a_stale_version_is_a_conflict_with_exit_code_5(ctl: Terminal) -> None:
    ctl.remember("text", "--id", "a")
    version = ctl.ok("get", "a", "--json").json["version"]
    ctl.ok("update", "a", "--title", "first", "--if-version", version)

    for words in (
        ("update", "a", "--title", "second"),
        ("remember", "second", "--id", "a"),
        ("delete", "a", "--yes"),
    ):
        assert ctl(*words, "--if-version", version).code == 5

    assert ctl.ok("get", "a", "--json").json["entry"]["title"] == "first"


@pytest.mark.parametrize(
    ("words", "field"),
    [
        ((), "patch"),
        (("--patch", "[1]"), "patch"),
        (("--patch", "{"), "patch"),
        (("--patch", '{"a":1,"a":2}'), "patch"),
        (("--metadata", "novalue"), "metadata"),
        (("--patch", "-", "--body", "-"), "body"),
    ],
)
def test_an_update_that_says_nothing_or_nonsense_is_refused(
    files: Terminal, words: tuple[str, ...], field: str
) -> None:
    result = files("update", "a", *words)

    assert result.code == 2
    assert f"error: {field}: " in result.err
