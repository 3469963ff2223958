"""The front matter of notes, as people and programs write it."""

from typing import Any

import pytest

from qms.features.transfer.importers.front_matter import read_front
from qms.memory.errors import InvalidInputError


@pytest.mark.parametrize(
    ("lines", "front"),
    [
        ("a: 1\nb: true\nc: text # a remark", {"a": 1, "b": True, "c": "text"}),
        ("tags: [one, 'two', \"three\"]", {"tags": ["one", "two", "three"]}),
        ("tags:\n- one\n  - two\nnext: x", {"tags": ["one", "two"], "next": "x"}),
        ("text: |\n  one\n  two\nnext: x", {"text": "one\ntwo", "next": "x"}),
        ("text: >-\n  one\n  two", {"text": "one two"}),
        ("quote: 'it''s'", {"quote": "it's"}),
        ("url: https://a.example/#part", {"url": "https://a.example/#part"}),
        ("empty:\n# a remark\n\nx: y", {"empty": [], "x": "y"}),
    ],
)
def test_front_matter_is_read(lines: str, front: dict[str, Any]) -> None:
    assert read_front(f"---\n{lines}\n---\n\nThe text\n") == (front, "The text")


def test_a_text_without_front_matter_is_a_text() -> None:
    assert read_front("\ufeffThe text\r\n---\r\n") == ({}, "The text\n---")


@pytest.mark.parametrize("lines", ["no field", "- item of nothing", "<<<<<<< HEAD"])
def test_a_line_that_is_none_is_named(lines: str) -> None:
    with pytest.raises(InvalidInputError, match="front matter has an invalid line"):
        read_front(f"---\n{lines}\n---\n")
