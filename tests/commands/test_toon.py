"""TOON: what is written reads back, cell by cell."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qms.commands.toon import cell, head_line, header_line, row_line
from tests.support.toon import read_list, read_toon, split, unescape

# No lone surrogates, which UTF-8 cannot carry; pipes, breaks and backslashes often.
TEXTS = st.text(st.one_of(st.sampled_from("|\\\n,:[]n"), st.characters(exclude_categories=["Cs"])))


@given(st.lists(TEXTS, min_size=1, max_size=6))
def test_every_text_of_a_row_reads_back(values: list[str]) -> None:
    line = row_line(values)

    assert "\n" not in line
    assert [unescape(part) for part in split(line, "|")] == values


@given(st.lists(TEXTS.filter(bool), max_size=5), TEXTS)
def test_every_item_of_a_list_reads_back(items: list[str], beside: str) -> None:
    first, second = split(row_line([items, beside]), "|")

    assert (read_list(first), unescape(second)) == (items, beside)


@given(st.dictionaries(st.sampled_from(["mode", "nextCursor"]), TEXTS.filter(bool), min_size=1))
def test_the_pairs_of_the_first_line_read_back(fields: dict[str, str]) -> None:
    assert read_toon(head_line(fields)).head == fields


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (True, "1"),
        (False, "0"),
        (9, "9"),
        (0.32, "0.32"),
        ([], ""),
        (("a", 2), "a,2"),
        ({"type": "doc"}, "[object]"),
        ("A|B", r"A\|B"),
        ("two\nlines", r"two\nlines"),
        (r"C:\new", r"C:\\new"),
    ],
)
def test_each_type_of_value_has_its_one_form(value: Any, text: str) -> None:
    assert cell(value) == text


def test_a_field_without_a_value_is_left_out_of_the_first_line() -> None:
    assert head_line({"count": 3, "mode": "hybrid", "nextCursor": None}) == "count:3|mode:hybrid"


def test_a_header_names_the_table_and_its_columns() -> None:
    assert header_line("memories", ["id", "title", "tags"]) == "memories[id|title|tags]:"
