"""Tables: rows of CSV whose columns are fields of an entry, or are said to be."""

import csv
import hashlib
import io
from collections.abc import Iterator, Mapping
from typing import Any

from qms.codec.lines import read_strictly
from qms.domain.bodies import LIST_FIELDS, MAIN_FIELDS, Kind
from qms.domain.entry import LOCAL_ID, Document, split_id
from qms.domain.errors import InvalidInputError, invalid
from qms.domain.ids import derived_local_id
from qms.domain.limits import DEFAULT_LIMITS
from qms.ingest.importers.items import MAX_LINE_BYTES, Broken, Found, Item, Opener

TEXTS = ("title", "namespace", "retention", "curationTier", "agentId", "epicSlug", "epicCase")
VALUES = ("priority", "confidence", "pinned", "isPermanent")
LISTS = ("tags", "keywords")
TIMES = ("createdUtc", "updatedUtc")
FIELDS = ("id", "kind", "text", "body", "metadata", *TEXTS, *VALUES, *LISTS, *TIMES)
"""What a column can be."""

_QUOTED_FORMULA = ("'=", "'+", "'-", "'@", "'\t", "'\r")

Row = dict[str, str]


def read_table(
    open_file: Opener, columns: Mapping[str, str], taken: dict[str, str]
) -> Iterator[Item]:
    """Yield every row as an entry; `columns` says which column a field stands in.

    What each column was taken for is written into `taken`.

    Raises:
        InvalidInputError: the table lacks a column that was named, or one with a text.
    """
    csv.field_size_limit(MAX_LINE_BYTES)
    with open_file() as file:
        rows = csv.DictReader(io.TextIOWrapper(file, "utf-8-sig", newline=""), strict=True)
        try:
            fields = _fields(list(rows.fieldnames or ()), columns)
            taken |= {name: _shown(name, field) for name, field in fields.items()}
            for row in rows:
                yield _item(f"line {rows.line_num:,}", row, fields)
        except csv.Error as error:
            yield Broken(f"line {rows.line_num:,}", "", f"is not CSV, nor what follows: {error}")
        except UnicodeDecodeError:
            yield Broken(f"after line {rows.line_num:,}", "", "is not UTF-8, nor what follows")


def _fields(names: list[str], columns: Mapping[str, str]) -> dict[str, str]:
    """Return the field of each column; what is none keeps its name, for the metadata."""
    for field, column in columns.items():
        if field not in FIELDS:
            raise invalid("map", f"{field} is not one of {', '.join(FIELDS)}")
        if column not in names:
            raise invalid("map", f"there is no column {column!r}, but {', '.join(names)}")
    given = {column: field for field, column in columns.items()}
    fields = {name: given.get(name, "" if name in columns else name) for name in names}
    if not {"text", "body"} & set(fields.values()):
        error = invalid("map", "no column is the text of the memories")
        error.add_note("say which one is: --map text=COLUMN")
        raise error
    return fields


def _shown(name: str, field: str) -> str:
    return field if field in FIELDS else f"metadata.{name}"


def _item(place: str, row: dict[Any, Any], fields: dict[str, str]) -> Item:
    if None in row or None in row.values():
        return Broken(place, "", "has not as many cells as the table has columns")
    cells = {fields[name] or name: _plain(cell) for name, cell in row.items() if cell}
    try:
        return Found(place, _document(cells))
    except InvalidInputError as error:
        return Broken(place, "", error.message)  # which names the field


def _document(cells: Row) -> Document:
    kind = Kind(cells["kind"]) if cells.get("kind") in frozenset(Kind) else None
    if kind is None and "kind" in cells:
        raise invalid("kind", f"{cells['kind'][:64]!r} is none")
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
    # The same row is the same memory, so that an import can be repeated.
    key = local or "\0".join(f"{name}={cell}" for name, cell in sorted(cells.items()))
    return derived_local_id(hashlib.sha256(b"csv\0" + key.encode()).digest())


def _json(field: str, text: str) -> Any:
    try:
        value = read_strictly(text.encode(), DEFAULT_LIMITS)
    except InvalidInputError:
        raise invalid(field, f"{text[:64]!r} is no JSON value") from None
    if field in ("body", "metadata") and not isinstance(value, dict):
        raise invalid(field, "must be a JSON object")
    return value


def _list(text: str) -> list[str]:
    return [item.strip() for item in text.replace(";", ",").split(",") if item.strip()]


def _plain(cell: str) -> str:
    return cell[1:] if cell.startswith(_QUOTED_FORMULA) else cell
