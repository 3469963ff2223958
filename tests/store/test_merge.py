"""The three-way merge as a function."""

from typing import Any

import pytest

from qms.memory.hand_lines import GoodLine
from qms.memory.validation import header_of
from qms.store.file_image import Image, LineProblem
from qms.store.merge import HOLD_MINIMUM, merge, missing_ids, must_hold, spoiled_ids
from qms.store.view import Record, bulk_view
from tests.support.boxes import line_of, statement


def line(text: str) -> bytes:
    return line_of(statement("a", text))


def good(text: str) -> GoodLine:
    return GoodLine(header_of(statement("a", text)), line(text))


def outcome(base: str | None, theirs: str | None, ours: str | None) -> tuple[Any, Any, Any]:
    """Return what is taken from the file, what is removed and which version loses."""
    before = {} if base is None else {"p:a": line(base)}
    fresh = {} if theirs is None or theirs == base else {"p:a": good(theirs)}
    gone = {"p:a"} if base is not None and theirs is None else set()
    records = [] if ours is None else [Record.from_line(line(ours), 3)]
    plan = merge(before, fresh, gone, bulk_view("p", records, 3))
    return (
        [one.line for one in plan.put.values()],
        plan.removed,
        [one.line for one in plan.lost.values()],
    )


@pytest.mark.parametrize(
    ("base", "theirs", "ours", "put", "removed", "lost"),
    [
        ("1", "1", "1", None, False, None),
        ("1", "2", "1", "2", False, None),
        ("1", "1", "2", None, False, None),
        ("1", "2", "2", "2", False, None),
        ("1", "2", "3", "2", False, "3"),
        ("1", None, "1", None, True, None),
        ("1", None, "2", None, True, "2"),
        ("1", None, None, None, False, None),
        ("1", "1", None, None, False, None),
        ("1", "2", None, "2", False, None),
        (None, "2", None, "2", False, None),
        (None, "2", "3", "2", False, "3"),
        (None, "2", "2", "2", False, None),
        (None, None, "3", None, False, None),
    ],
)
def test_the_table_of_the_three_way_merge(
    base: str | None,
    theirs: str | None,
    ours: str | None,
    put: str | None,
    removed: bool,
    lost: str | None,
) -> None:
    assert outcome(base, theirs, ours) == (
        [line(put)] if put else [],
        ["p:a"] if removed else [],
        [line(lost)] if lost else [],
    )


def test_what_the_person_may_not_have_seen_leaves_a_copy() -> None:
    ours = bulk_view("p", [Record.from_line(line("2"), 3)], 3)
    base = {"p:a": line("2")}
    edited = merge(base, {"p:a": good("1")}, set(), ours, unseen={"p:a"})
    removed = merge(base, {}, {"p:a"}, ours, unseen={"p:a"})
    back = merge({}, {"p:a": good("1")}, set(), bulk_view("p", [], 3), unseen={"p:a"})

    assert edited.lost["p:a"].line == removed.lost["p:a"].line == line("2")
    assert back.lost["p:a"].line == line("1")


@pytest.mark.parametrize(
    ("size", "gone", "held"),
    [
        (10, 10, False),
        (11, 11, True),
        (20, 10, False),
        (21, 11, True),
        (22, 11, False),
        (100, 50, False),
        (100, 51, True),
        (1, 1, False),
    ],
)
def test_more_than_half_and_more_than_ten_is_held(size: int, gone: int, held: bool) -> None:
    assert must_hold(size, gone) is held
    assert HOLD_MINIMUM == 10


def image(*lines: str | tuple[str | None, str]) -> Image:
    """Return an image: a plain name is an entry, a pair a bad line with the id it shows."""
    made = Image(ids=[], raws=[], problems=[])
    for index, one in enumerate(lines):
        if isinstance(one, str):
            made.ids.append(one)
            made.raws.append(one.encode())
        else:
            made.ids.append(None)
            made.raws.append(one[1].encode())
            made.problems.append(LineProblem(index, "notJson", "r", one[0]))
    return made


@pytest.mark.parametrize(
    ("before", "after", "spoiled"),
    [
        (image("a", "b", "c"), image("a", ("b", "bad"), "c"), {"b"}),
        (image("a", "b", "c"), image("a", (None, "bad"), "c"), {"b"}),
        (image("a", "b", "c"), image("a", "c"), set()),
        (image("a", "b", "c"), image((None, "bad"), "a", "c"), set()),
        (image("a", "b", "c"), image("a", "c", (None, "bad")), set()),
        (image("a", "b", "c"), image((None, "x"), (None, "y"), (None, "z")), {"a", "b", "c"}),
        (image("a", "b", "c", "d"), image("a", (None, "bad"), "d"), {"b", "c"}),
        (image("a", (None, "old"), "b", "c"), image("a", (None, "old"), "c"), set()),
        (image("a", "b", "c"), image(("b", "bad"), "a", "c"), {"b"}),
    ],
)
def test_an_unreadable_line_stands_for_the_entry_whose_place_it_has(
    before: Image, after: Image, spoiled: set[str]
) -> None:
    gone = missing_ids(dict.fromkeys(before.taken_ids(), b""), after)

    assert spoiled_ids(before, after, gone) == spoiled


@pytest.mark.parametrize(
    ("after", "spoiled"),
    [
        (image((None, "old"), "a"), set()),
        (image(("b", "old"), "a"), set()),
        (image((None, "old"), "a", (None, "bad")), {"b"}),
        (image((None, "old"), "a", ("b", "bad")), {"b"}),
        (image((None, "old"), "a", ("c", "bad")), set()),
    ],
)
def test_only_a_new_unreadable_line_stands_for_an_entry_that_got_its_line_later(
    after: Image, spoiled: set[str]
) -> None:
    before = image((None, "old"), "a")

    assert spoiled_ids(before, after, {"b"}, later={"b"}) == spoiled
    assert spoiled_ids(before, after, {"b"}) == {"b"}, "it had an unreadable line already"
