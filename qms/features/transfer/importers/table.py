"""Reads CSV tables whose columns are fields of an entry, by name or by mapping."""

import csv
import hashlib
import io
from collections.abc import Iterator, Mapping
from typing import IO, Any

from qms.features.transfer.importers.items import MAX_LINE_BYTES, Broken, Found, Item, Opener
from qms.memory.bodies import LIST_FIELDS, MAIN_FIELDS, Kind
from qms.memory.entry import LOCAL_ID, Document, split_id
from qms.memory.errors import InvalidInputError, invalid
from qms.memory.ids import derived_local_id
from qms.memory.limits import DEFAULT_LIMITS
from qms.memory.lines import read_strictly

TEXTS = ("title", "namespace", "retention", "curationTier", "agentId", "epicSlug", "epicCase")
VALUES = ("priority", "confidence", "pinned", "isPermanent")
LISTS = ("tags", "keywords")
TIMES = ("createdUtc", "updatedUtc")
FIELDS = ("id", "kind", "text", "body", "metadata", *TEXTS, *VALUES, *LISTS, *TIMES)
"""The fields that a column can hold."""

_QUOTED_FORMULA = ("'=", "'+", "'-", "'@", "'\t", "'\r")

_KINDS = frozenset(Kind)
_SHOWN = 64

MAX_COLUMNS = 1000
"""The limit of columns: each row would hold all of their names."""

Row = dict[str, str]


def read_table(
    open_file: Opener, columns: Mapping[str, str], taken: dict[str, str]
) -> Iterator[Item]:
    """Yield every row as an entry; `columns` maps a field to its column.

    The field that each column was read as is added to `taken`.

    Raises:
        InvalidInputError: the table lacks a mapped column, or a column with the text.
    """
    csv.field_size_limit(MAX_LINE_BYTES)
    with open_file() as file:
        lines = _Lines(io.TextIOWrapper(file, "utf-8-sig", newline=""))
        rows = csv.reader(lines, strict=True)
        try:
            names = next(filter(None, rows), [])
            fields = _fields(names, columns)
            taken |= {name: _shown(name, field) for name, field in fields.items()}
            for row in rows:
                lines.size = 0
                if row:
                    yield _item(f"line {rows.line_num:,}", row, names, fields)
        except csv.Error as error:
            yield Broken(
                f"line {rows.line_num:,}", "", f"this line and the rest are not CSV: {error}"
            )
        except UnicodeDecodeError:
            yield Broken(f"after line {rows.line_num:,}", "", "the rest is not UTF-8")


class _Lines:
    """The lines of a table; the lines of one row are bounded, since a row is parsed at once."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self.size = 0
        """The characters since the last row."""

    def __iter__(self) -> Iterator[str]:
        while line := self._file.readline(MAX_LINE_BYTES):
            self.size += len(line)
            if self.size >= MAX_LINE_BYTES:
                raise csv.Error(f"a row is longer than {MAX_LINE_BYTES:,} characters")
            yield line


def _fields(names: list[str], columns: Mapping[str, str]) -> dict[str, str]:
    """Return the field of each column; an unknown column keeps its name, for the metadata."""
    if len(names) > MAX_COLUMNS:
        raise invalid(
            "content",
            f"the table has {len(names):,} columns: the limit columns is {MAX_COLUMNS:,}",
            limit="columns",
            maximum=MAX_COLUMNS,
        )
    for field, column in columns.items():
        if field not in FIELDS:
            raise invalid("map", f"{field} is not one of {', '.join(FIELDS)}")
        if column not in names:
            known = ", ".join(name[:_SHOWN] for name in names[:_SHOWN])
            raise invalid("map", f"there is no column {column[:_SHOWN]!r}; the columns are {known}")
    given = {column: field for field, column in columns.items()}
    fields = {name: given.get(name, "" if name in columns else name) for name in names}
    if not {"text", "body"} & set(fields.values()):
        error = invalid("map", "no column is the text of the memories")
        error.add_note("name it: --map text=COLUMN")
        raise error
    return fields


def _shown(name: str, field: str) -> str:
    return field if field in FIELDS else f"metadata.{name}"


def _item(place: str, row: list[str], names: list[str], fields: dict[str, str]) -> Item:
    if len(row) != len(names):
        return Broken(place, "", "has another number of cells than the header")
    pairs = zip(names, row, strict=True)
    cells = {fields[name] or name: _plain(cell) for name, cell in pairs if cell}
    try:
        return Found(place, _document(cells))
    except InvalidInputError as error:
        return Broken(place, "", error.message)  # which names the field


def _document(cells: Row) -> Document:
    kind = Kind(cells["kind"]) if cells.get("kind") in _KINDS else None
    if kind is None and "kind" in cells:
        raise invalid("kind", f"{cells['kind'][:64]!r} is not a kind")
    kind = kind or Kind.NOTE
    document: Document = {name: cells[name] for name in TEXTS if name in cells}
    document |= {name: _json(name, cells[name].lower()) for name in VALUES if name in cells}
    document |= {name: _list(cells[name]) for name in LISTS if name in cells}
    document |= {"id": _local_id(cells), "kind": kind.value, "body": _body(kind, cells)}
    if times := {name: cells[name] for name in TIMES if name in cells}:
        document["timestamps"] = times
    metadata = _json("metadata", cells["metadata"]) if "metadata" in cells else {}
    metadata |= {name: cell for name, cell in cells.items() if name not in FIELDS}
    return document | ({"metadata": metadata} if metadata else {})


def _body(kind: Kind, cells: Row) -> dict[str, Any]:
    body: dict[str, Any] = _json("body", cells["body"]) if "body" in cells else {}
    main, text = MAIN_FIELDS[kind][0], cells.get("text", "")
    if main in LIST_FIELDS:
        body[main] = [line.removeprefix("- ") for line in text.splitlines() if line.strip()]
    elif text or not body:
        body[main] = text
    return body


def _local_id(cells: Row) -> str:
    local = split_id(cells.get("id", ""))[1]
    if LOCAL_ID.fullmatch(local):
        return local
    # The same row has the same id, so that an import can be repeated.
    key = local or "\0".join(f"{name}={cell}" for name, cell in sorted(cells.items()))
    return derived_local_id(hashlib.sha256(b"csv\0" + key.encode()).digest())


def _json(field: str, text: str) -> Any:
    try:
        value = read_strictly(text.encode(), DEFAULT_LIMITS)
    except InvalidInputError:
        raise invalid(field, f"{text[:64]!r} is not a JSON value") from None
    if field in ("body", "metadata") and not isinstance(value, dict):
        raise invalid(field, "must be a JSON object")
    return value


def _list(text: str) -> list[str]:
    return [item.strip() for item in text.replace(";", ",").split(",") if item.strip()]


def _plain(cell: str) -> str:
    return cell[1:] if cell.startswith(_QUOTED_FORMULA) else cell
