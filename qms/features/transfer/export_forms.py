"""Writes exported entries as JSON, Markdown with front matter, or CSV rows."""

import csv
import hashlib
import io
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from qms.memory.bodies import MAIN_FIELDS, Kind
from qms.memory.entry import split_id
from qms.text.escapes import escape_json

COLUMNS = (
    *("id", "kind", "title", "text", "tags", "keywords", "namespace", "priority"),
    *("confidence", "pinned", "isPermanent", "retention", "curationTier", "agentId"),
    *("createdUtc", "updatedUtc", "body", "metadata"),
)

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""Beginnings of a cell that a spreadsheet would run as a formula."""

_NOT_IN_FRONT = ("title", "body", "project", "schemaVersion", "embedding")

Entry = Mapping[str, Any]


class Form(msgspec.Struct, frozen=True):
    """An export format; each text ends with a line."""

    render: Callable[[Entry], str]
    head: str = ""
    foot: str = ""
    separator: str = ""

    def page(self, entries: Sequence[Entry], *, is_first: bool, is_last: bool) -> str:
        """Return the text of one part of an export; all parts joined are the file."""
        texts = [
            self.separator * bool(number or not is_first) + self.render(entry)
            for number, entry in enumerate(entries)
        ]
        head = [self.head] if is_first and self.head else []
        foot = [self.foot] if is_last and self.foot else []
        return "".join(f"{text}\n" for text in [*head, *texts, *foot])


def file_name(entry: Entry) -> str:
    """Return a file name for an entry that is unique also where case is ignored."""
    local = split_id(entry["id"])[1]
    if local == local.lower() and not local.startswith("."):
        return f"{local}.md"
    return f"{local.lstrip('.')}~{hashlib.sha256(local.encode()).hexdigest()[:8]}.md"


def as_markdown(entry: Entry) -> str:
    """Return an entry as Markdown; the other fields are front matter, YAML that is also JSON."""
    text = _text(entry)
    front = {"title": entry["title"]}
    front |= {name: value for name, value in entry.items() if name not in _NOT_IN_FRONT}
    if rest := _beside_text(entry):
        front["body"] = rest
    lines = [f"{name}: {_json_line(value)}" for name, value in front.items()]
    return "\n".join(["---", *lines, "---", "", text])


def as_row(entry: Entry) -> str:
    """Return an entry as a CSV row, without formulas."""
    values = {**entry, **entry.get("timestamps", {}), "text": _text(entry)}
    values["body"] = _beside_text(entry)
    return _row([_cell(values.get(name)) for name in COLUMNS])


def _row(cells: list[str]) -> str:
    line = io.StringIO()
    # The writer quotes line ends in a cell only if its own terminator contains them.
    csv.writer(line, lineterminator="\r\n").writerow(cells)
    return line.getvalue().removesuffix("\r\n")


def _cell(value: Any) -> str:
    if value is None or value in ([], {}):
        return ""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        value = ", ".join(value)
    shown = value if isinstance(value, str) else _json_line(value)
    return f"'{shown}" if shown.startswith(_FORMULA) else shown


def _text(entry: Entry) -> str:
    text = entry["body"].get(_main_field(entry), "")
    return "\n".join(f"- {item}" for item in text) if isinstance(text, list) else str(text)


def _main_field(entry: Entry) -> str:
    return MAIN_FIELDS[Kind(entry["kind"])][0]


def _beside_text(entry: Entry) -> dict[str, Any]:
    """Return the fields of a body other than its text."""
    main = _main_field(entry)
    return {name: value for name, value in entry["body"].items() if name != main}


def _json_line(value: Any) -> str:
    """Return a value as JSON on one line, without terminal control characters."""
    return escape_json(json.dumps(value, ensure_ascii=False))


FORMS = {
    "jsonl": Form(_json_line),
    "json": Form(_json_line, head='{"entries": [', foot="]}", separator=","),
    "markdown": Form(as_markdown, separator="\n"),
    "csv": Form(as_row, head=_row(list(COLUMNS))),
}
