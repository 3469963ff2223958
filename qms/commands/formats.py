"""Formats of answers: JSON, or TOON rows with the columns of each format."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar

import msgspec

from qms.commands.answers import Rendered, beginning_of
from qms.commands.toon import head_line, header_line, row_line, short_row_line
from qms.commands.visible import Visible
from qms.memory.bodies import main_text
from qms.memory.entry import FIELD_DEFAULTS
from qms.memory.filters import Format, Include
from qms.memory.ids import short_id
from qms.memory.validation import instant_text
from qms.search.budget import tokens
from qms.store.view import Record
from qms.text.flags import flags_of

Answer = TypeVar("Answer")

TokenBudget = Annotated[int, msgspec.Meta(ge=1)]

TABLE = "memories"
"""The name of the table of entries, whatever the command calls its list."""


_COLUMNS = {
    Format.TOON: (
        *("id", "kind", "title", "curationTier", "pinned", "retention", "namespace", "priority"),
        *("confidence", "tags", "agentId", "createdUtc", "updatedUtc"),
    ),
    Format.TOON_COMPACT: ("id", "kind", "title", "tags"),
}
_SELDOM = ("namespace", "priority", "curationTier", "retention", "confidence", "pinned")
"""The last columns of a compact row: most entries have the default there, and end earlier."""

_USUAL = {name: FIELD_DEFAULTS[name] for name in _SELDOM if FIELD_DEFAULTS[name] is not None}


class EntryTable:
    """Writes entries of a project as rows; `extra` names columns that only the command knows."""

    def __init__(
        self, form: Format, include: Include, project: str, extra: Sequence[str] = ()
    ) -> None:
        self._form = form
        self._project = project
        self._has_text = include is Include.FULL
        text = ("text",) if self._has_text else ()
        if include is Include.SNIPPET and "snippet" not in extra:
            text = ("snippet",)
        first = ("id",) if include is Include.IDS else _COLUMNS[form]
        last = _SELDOM if self._is_compact and include is not Include.IDS else ()
        self.columns: tuple[str, ...] = (*first, *text, *extra, *last)

    @property
    def _is_compact(self) -> bool:
        return self._form is Format.TOON_COMPACT

    def row(self, record: Visible, **extra: Any) -> str:
        """Return the row of an entry."""
        cells = {**_cells(record), **extra}
        if "snippet" in self.columns and "snippet" not in extra:
            cells["snippet"] = beginning_of(record)
        if self._has_text:
            cells["text"] = main_text(record.header.kind, record.document()["body"])
        if "flags" in self.columns:
            cells["flags"] = flags_of(record.line)
        if not self._is_compact:
            return row_line(cells[column] for column in self.columns)
        cells["id"] = self.spelled(record.header.id)
        return short_row_line(cells, self.columns, _USUAL)

    def spelled(self, entry_id: str) -> str:
        """Return an id as the rows spell it: short and without the project in compact rows."""
        return compact_id(entry_id, self._project) if self._is_compact else entry_id

    def rendered(self, rows: Sequence[str], **head: Any) -> Rendered:
        """Return the whole answer: its own fields first, with the number of entries, then rows."""
        project, usual = (self._project, _USUAL) if self._is_compact else (None, {})
        first = head_line({"count": len(rows), "project": project, **head})
        text = "\n".join((first, header_line(TABLE, self.columns, usual), *rows))
        return Rendered(format=self._form, text=text, count=len(rows))

    def size_of(self, rows: Sequence[str], **head: Any) -> int:
        """Return the size in bytes of an answer with these rows."""
        return len(self.rendered(rows, **head).text.encode())


def longest(answer_of: Callable[[int], Answer], most: int, max_tokens: int | None) -> Answer:
    """Return the answer with the most entries, up to `most`, that fits a token budget.

    `answer_of(n)` returns the answer with the first n entries. It always holds at least one entry,
    so that paging ends.
    """
    whole = answer_of(most)
    if most <= 1 or max_tokens is None or _cost(whole) <= max_tokens:
        return whole
    shorter = range(1, most)
    count = bisect_right(shorter, max_tokens, key=lambda number: _cost(answer_of(number)))
    # Answers differ in more than their entries, so that bisection may end one too far.
    while count > 1 and _cost(answer_of(count)) > max_tokens:
        count -= 1
    return answer_of(max(1, count))


def _cost(answer: Any) -> int:
    text = answer.text.encode() if isinstance(answer, Rendered) else msgspec.json.encode(answer)
    return tokens(len(text))


def flag_column(include: Include) -> tuple[str, ...]:
    """Return the column of flags for rows that carry the entry's text."""
    return ("flags",) if include is Include.FULL else ()


def compact_id(entry_id: str, project: str) -> str:
    """Return an id in its short spelling, without the project that the answer names."""
    return short_id(entry_id).removeprefix(f"{project}:")


def with_table(
    rendered: Rendered, name: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]
) -> Rendered:
    """Return an answer with one more table below."""
    lines = (rendered.text, header_line(name, columns), *map(row_line, rows))
    return msgspec.structs.replace(rendered, text="\n".join(lines))


def _cells(record: Record) -> dict[str, Any]:
    header = record.header
    return {
        "id": header.id,
        "kind": header.kind,
        "title": header.title,
        "curationTier": header.curation_tier,
        "pinned": header.pinned,
        "retention": header.retention,
        "namespace": header.namespace,
        "priority": header.priority,
        "confidence": header.confidence,
        "tags": header.tags,
        "agentId": header.agent_id,
        "createdUtc": instant_text(header.timestamps.created_utc),
        "updatedUtc": instant_text(header.timestamps.updated_utc),
    }
