"""Rewrites keep every comment, every unknown key and the order of the lines."""

import tomllib
from collections.abc import Sequence
from typing import Any

import pytest
import tomlkit
from hypothesis import given, settings
from hypothesis import strategies as st

from qms.config.toml_change import change, put, remove
from qms.config.toml_text import TomlText
from qms.memory.errors import InvalidInputError

NAMES = ("alice", "bob", "carol")
TABLES = ["global", "global.backup", "llm", "extra.deep", *(f"users.{name}" for name in NAMES)]
values = st.one_of(
    st.integers(-5, 5),
    st.booleans(),
    st.text("ab \"'\\#=[]{}.,\n\té\u2028😀\ue000", max_size=12),
    st.lists(st.integers(0, 3), max_size=3),
)


def lines_of(text: str) -> list[str]:
    """Return the lines; `splitlines` would part a text at U+2028 too."""
    return text.replace("\r\n", "\n").split("\n")


def is_subsequence(part: Sequence[str], whole: Sequence[str]) -> bool:
    rest = iter(whole)
    return all(line in rest for line in part)


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Draw a file as people write it: tables in any order, comments and blanks anywhere."""
    lines: list[str] = []
    comment = 0

    def remark() -> None:
        nonlocal comment
        for _ in range(draw(st.integers(0, 2))):
            comment += 1
            lines.append(
                draw(st.sampled_from(["", f"# remark {comment}", f"  # remark {comment}"]))
            )

    for table in draw(st.lists(st.sampled_from(TABLES), unique=True)):
        remark()
        lines.append(f"[{table}]" + draw(st.sampled_from(["", " # header"])))
        for key in draw(st.lists(st.sampled_from(["tier", "other", "more"]), unique=True)):
            remark()
            shown = tomlkit.item(draw(values)).as_string()
            lines.append(f"{key} = {shown}" + draw(st.sampled_from(["", "  # why"])))
        remark()
    end = draw(st.sampled_from(["\n", ""]))
    text = "\n".join(lines) + (end if lines else "")
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


places = st.tuples(
    st.just("users"), st.sampled_from(NAMES), st.sampled_from(["tier", "other", "fresh"])
) | st.tuples(st.sampled_from(["global", "llm", "new"]), st.sampled_from(["tier", "fresh"]))


def assigned(values: dict[str, Any], place: Sequence[str], value: Any) -> dict[str, Any]:
    inner = values
    for name in place[:-1]:
        inner = inner.setdefault(name, {})
    inner[place[-1]] = value
    return values


@settings(deadline=None)
@given(documents())
def test_a_text_that_is_only_read_comes_out_as_it_was(text: str) -> None:
    assert change(text, lambda _: None) == text
    assert TomlText(text).values() == tomllib.loads(text)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(documents(), places, values)
def test_setting_a_value_changes_its_line_and_no_other(
    text: str, place: tuple[str, ...], value: Any
) -> None:
    before = TomlText(text)
    is_there = place[-1] in lookup(before.values(), place[:-1])
    line = before.line_of(place) if is_there else None
    changed = put(text, place, value)
    assert tomllib.loads(changed) == assigned(before.values(), place, value)
    kept = lines_of(text)
    if line is not None:
        comment = "# why" in kept[line - 1]
        assert not comment or "  # why" in lines_of(changed)[line - 1]
        del kept[line - 1]
    assert is_subsequence(kept, lines_of(changed))


def lookup(values: dict[str, Any], place: Sequence[str]) -> dict[str, Any]:
    for name in place:
        values = values.get(name, {})
    return values


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(documents(), st.sampled_from(NAMES))
def test_removing_a_table_takes_its_own_lines_and_no_other(text: str, name: str) -> None:
    before = TomlText(text)
    if name not in before.values().get("users", {}):
        with pytest.raises(KeyError):
            remove(text, ("users", name))
        return
    changed = remove(text, ("users", name))
    expected = before.values()
    del expected["users"][name]
    found = tomllib.loads(changed)
    assert found.get("users", {}) == expected.pop("users")
    assert {key: value for key, value in found.items() if key != "users"} == expected
    first, last = span(before, name)
    lines = lines_of(text)
    kept = [line for line in lines[: first - 1] + lines[last:] if line]
    assert [line for line in lines_of(changed) if line] == kept


def span(text: TomlText, name: str) -> tuple[int, int]:
    """Return the first and the last line of a user's table, comments behind it left out."""
    table = text.values()["users"][name]
    found = [text.line_of(("users", name)), *(text.line_of(("users", name, key)) for key in table)]
    lines = [line for line in found if line is not None]
    return min(lines), max(lines)


@pytest.mark.parametrize("place", [("users", "bob"), ("users", "bob", "tier"), ("x",)])
def test_values_that_equal_nothing_do_not_stop_a_rewrite(place: tuple[str, ...]) -> None:
    text = "x = nan\n[users.bob]\ntier = 'admin'\nother = [nan]\n"
    assert "bob" in put(text, ("users", "bob", "tier"), "reader")
    assert remove(text, place) != text


def test_a_mark_of_ours_in_the_text_does_no_harm() -> None:
    text = "# \ue0000\ue001\n[users.bob]\ntier = 1 # \ue0000\ue001\n# \ue0001\ue001\n[llm]\n"
    changed = put(text, ("users", "bob", "other"), 2)
    assert changed == text.replace("# \ue0001", "other = 2\n# \ue0001")
    assert TomlText(changed).line_of(("users", "bob", "other")) == 4


def test_a_new_table_stands_behind_its_siblings_and_before_what_follows() -> None:
    text = "[users.a]\ntier = 1\n\n# the rest\n[llm]\nmodel = 'x'\n"
    assert put(text, ("users", "b"), {"tier": 2}) == (
        "[users.a]\ntier = 1\n\n[users.b]\ntier = 2\n\n# the rest\n[llm]\nmodel = 'x'\n"
    )


def test_a_first_table_of_its_kind_goes_to_the_end() -> None:
    assert put("# only a comment", ("users", "b", "tier"), 2) == (
        "# only a comment\n\n[users.b]\ntier = 2\n"
    )
    assert put("", ("users", "b", "tier"), 2) == "[users.b]\ntier = 2\n"


def test_tables_written_in_line_or_with_dots_are_changed_too() -> None:
    assert put("users = { a = { tier = 1 } } # x\n", ("users", "b", "tier"), 2).endswith("# x\n")
    assert put("users.a.tier = 1\n", ("users", "a", "tier"), 2) == "users.a.tier = 2\n"
    assert tomllib.loads(remove("users.a.tier = 1\nusers.b.tier = 2\n", ("users", "a"))) == {
        "users": {"b": {"tier": 2}}
    }


def test_what_toml_cannot_hold_is_refused() -> None:
    with pytest.raises(InvalidInputError):
        put("[a]\n", ("a", "b"), None)
    with pytest.raises(InvalidInputError):
        put("[a]\n", ("a", "b"), [object()])
    with pytest.raises(InvalidInputError) as caught:
        put("[a]\nb = 1\n", ("a", "b", "c"), 1)
    assert caught.value.details == {"field": "a.b"}


def test_a_rewrite_that_would_lose_something_is_refused() -> None:
    shown = {"count": 0}

    def differently(values: Any) -> None:
        shown["count"] += 1
        values["x"] = shown["count"]

    with pytest.raises(InvalidInputError, match="without loss"):
        change("x = 0\n", differently)
