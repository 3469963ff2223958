"""Rows of text for lists of links, archived versions and pairs of entries."""

from collections.abc import Sequence
from typing import Any

import msgspec

from qms.commands.answers import Rendered
from qms.commands.formats import compact_id
from qms.commands.requests import Response
from qms.commands.toon import head_line, header_line, row_line, short_row_line
from qms.memory.filters import Format


class ItemTable:
    """Writes items of one type as rows.

    `ids` names the columns that hold ids, `without` fields that have no column.
    """

    def __init__(
        self,
        form: Format,
        project: str,
        item: type[Response],
        *,
        name: str,
        ids: Sequence[str] = (),
        without: Sequence[str] = (),
    ) -> None:
        self._form = form
        self._project = project
        self._name = name
        self._ids = ids
        names = (field.encode_name for field in msgspec.structs.fields(item))
        self.columns = [name for name in names if name not in without]

    def rendered(self, items: Sequence[Response], **head: Any) -> Rendered:
        """Return the whole answer: its own fields, with the number of rows, then the rows."""
        compact = self._form is Format.TOON_COMPACT
        project = self._project if compact else None
        first = head_line({"count": len(items), "project": project, **head})
        write = self._compact_row if compact else self._row
        rows = (write(msgspec.to_builtins(one)) for one in items)
        text = "\n".join((first, header_line(self._name, self.columns), *rows))
        return Rendered(format=self._form, text=text, count=len(items))

    def _row(self, fields: dict[str, Any]) -> str:
        return row_line(fields.get(column) for column in self.columns)

    def _compact_row(self, fields: dict[str, Any]) -> str:
        known = {**dict.fromkeys(self.columns), **fields}
        for one in self._ids:
            if known[one] is not None:
                known[one] = compact_id(known[one], self._project)
        return short_row_line(known, self.columns, {})
