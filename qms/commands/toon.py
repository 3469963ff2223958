"""TOON: rows of text that name the fields once, to save tokens.

A line of `key:value` pairs, a header `memories[id|title|priority=5]:`, a line for each row. A
backslash escapes a pipe or a backslash of a value, and the commas of a list's items; a line break
is `\\n`. So each line splits at its bare pipes, and every cell can be decoded: an empty cell, or a
missing one at the end of a row, has the value that the header names.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

OBJECT = "[object]"
"""The cell of a value that has fields of its own."""

_NOTHING: Mapping[str, Any] = {}
_ESCAPES = str.maketrans({"\\": r"\\", "|": r"\|", "\n": r"\n"})
_ITEM_ESCAPES = str.maketrans({"\\": r"\\", "|": r"\|", "\n": r"\n", ",": r"\,"})


def head_line(fields: Mapping[str, Any]) -> str:
    """Return the line of an answer's own fields; those without a value are left out."""
    known = ((key, cell(value)) for key, value in fields.items())
    return "|".join(f"{key}:{text}" for key, text in known if text)


def header_line(name: str, columns: Sequence[str], usual: Mapping[str, Any] = _NOTHING) -> str:
    """Return the line that names a table, its columns and the value of an empty cell."""
    named = (f"{one}={cell(usual[one])}" if one in usual else one for one in columns)
    return f"{name}[{'|'.join(named)}]:"


def row_line(values: Iterable[Any]) -> str:
    """Return one row."""
    return "|".join(map(cell, values))


def short_row_line(
    cells: Mapping[str, Any], columns: Sequence[str], usual: Mapping[str, Any]
) -> str:
    """Return one row with empty cells for usual values, without the empty cells at its end."""
    texts = [
        "" if name in usual and cells[name] == usual[name] else cell(cells[name])
        for name in columns
    ]
    while texts and not texts[-1]:
        texts.pop()
    return "|".join(texts)


def cell(value: Any) -> str:
    """Return one value: empty for null, 1 and 0 for true and false, a list joined with commas."""
    match value:
        case None:
            return ""
        case str():
            return value.translate(_ESCAPES)
        case bool():
            return "1" if value else "0"
        case int() | float():
            return str(value)
        case list() | tuple():
            return ",".join(_item(item) for item in value)
        case _:
            return OBJECT


def _item(value: Any) -> str:
    return value.translate(_ITEM_ESCAPES) if isinstance(value, str) else cell(value)
