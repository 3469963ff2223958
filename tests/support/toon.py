"""A reader of TOON, written from its rules and not from the writer."""

import re
from typing import NamedTuple

_HEADER = re.compile(r"(\w+)\[([^\]]*)\]:")
_UNESCAPED = {"n": "\n"}


class Table(NamedTuple):
    """One table: its columns in order, and a row for each entry."""

    columns: list[str]
    rows: list[dict[str, str]]


class Toon(NamedTuple):
    """A whole text."""

    head: dict[str, str]
    tables: dict[str, Table]

    @property
    def memories(self) -> list[dict[str, str]]:
        """Return the rows of the main table."""
        return self.tables["memories"].rows


def read_toon(text: str) -> Toon:
    """Return the pairs of the first line, and every table with its cells unescaped."""
    lines = text.split("\n")
    head: dict[str, str] = {}
    if not _HEADER.fullmatch(lines[0]):
        pairs = (pair.partition(":") for pair in split(lines.pop(0), "|"))
        head = {key: unescape(value) for key, _, value in pairs}
    tables: dict[str, Table] = {}
    for line in lines:
        if found := _HEADER.fullmatch(line):
            table = tables[found[1]] = Table(found[2].split("|"), [])
        elif line:
            cells = map(unescape, split(line, "|"))
            table.rows.append(dict(zip(table.columns, cells, strict=True)))
    return Toon(head, tables)


def read_list(line: str) -> list[str]:
    """Return the items of a cell that is still escaped."""
    return [unescape(item) for item in split(line, ",")] if line else []


def split(line: str, separator: str) -> list[str]:
    """Return the parts of a line between separators that no backslash stands before."""
    return re.findall(rf"(?:^|{re.escape(separator)})((?:\\.|[^\\{separator}])*)", line)


def unescape(text: str) -> str:
    """Return a cell's own text."""
    return re.sub(r"\\(.)", lambda found: _UNESCAPED.get(found[1], found[1]), text)
