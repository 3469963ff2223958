"""A reader of TOON, written from its rules and not from the writer."""

import re
import string
from typing import NamedTuple
from uuid import UUID

_HEADER = re.compile(r"(\w+)\[([^\]]*)\]:")
_UNESCAPED = {"n": "\n"}
_ID_COLUMNS = {"id", "otherId", "sourceId", "targetId", "a", "b"}
_BASE_62 = string.digits + string.ascii_uppercase + string.ascii_lowercase


class Table(NamedTuple):
    """One table: its columns in order, and a row for each entry."""

    columns: list[str]
    usual: dict[str, str]
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
    """Return the pairs of the first line, and every table with its cells as they were meant."""
    lines = text.split("\n")
    head: dict[str, str] = {}
    if not _HEADER.fullmatch(lines[0]):
        pairs = (pair.partition(":") for pair in split(lines.pop(0), "|"))
        head = {key: unescape(value) for key, _, value in pairs}
    tables: dict[str, Table] = {}
    for line in lines:
        if found := _HEADER.fullmatch(line):
            table = tables[found[1]] = _table(found[2])
        elif line:
            table.rows.append(_row(table, line, head.get("project")))
    return Toon(head, tables)


def _table(columns: str) -> Table:
    named = [column.partition("=") for column in columns.split("|")]
    usual = {name: unescape(value) for name, _, value in named}
    return Table([name for name, _, _ in named], usual, [])


def _row(table: Table, line: str, project: str | None) -> dict[str, str]:
    cells = [unescape(cell) for cell in split(line, "|")]
    missing = [""] * (len(table.columns) - len(cells))
    row = dict(zip(table.columns, [*cells, *missing], strict=True))
    told = {name: cell or table.usual[name] for name, cell in row.items()}
    if project is None:
        return told
    return {
        name: whole_id(cell, project) if name in _ID_COLUMNS else cell
        for name, cell in told.items()
    }


def whole_id(told: str, project: str) -> str:
    """Return an id of a compact row as JSON spells it."""
    owner, local = told.split(":") if ":" in told else (project, told)
    if re.fullmatch("_[0-9A-Za-z]{22}", local):
        places = enumerate(reversed(local[1:]))
        local = str(UUID(int=sum(_BASE_62.index(digit) * 62**place for place, digit in places)))
    return f"{owner}:{local}"


def read_list(line: str) -> list[str]:
    """Return the items of a cell that is still escaped."""
    return [unescape(item) for item in split(line, ",")] if line else []


def split(line: str, separator: str) -> list[str]:
    """Return the parts of a line between separators that no backslash stands before."""
    return re.findall(rf"(?:^|{re.escape(separator)})((?:\\.|[^\\{separator}])*)", line)


def unescape(text: str) -> str:
    """Return a cell's own text."""
    return re.sub(r"\\(.)", lambda found: _UNESCAPED.get(found[1], found[1]), text)
