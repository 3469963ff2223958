"""Folders of Markdown: this server's export, basic-memory's notes, and others with front matter."""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from qms.codec.lines import read_strictly
from qms.domain.bodies import LIST_FIELDS, MAIN_FIELDS, Kind
from qms.domain.entry import FIELD_ORDER, LOCAL_ID, Document
from qms.domain.errors import InvalidInputError
from qms.domain.ids import derived_local_id
from qms.domain.limits import DEFAULT_LIMITS
from qms.ingest.importers.items import MAX_LINE_BYTES, Broken, Found, Item
from qms.ingest.importers.jsonl import moved

_FRONT = re.compile(r"\A---[ \t]*\n(?P<front>.*?)^---[ \t]*(?:\n|\Z)", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"(?P<name>[A-Za-z_][\w -]*?)[ \t]*:(?:[ \t]+(?P<value>.*)|[ \t]*)")
_HEADING = re.compile(r"^# +(?P<title>.+?)[ #]*$", re.MULTILINE)
_LIST_ITEM = "- "

Front = dict[str, Any]


def read_markdown(path: Path, project: str) -> Iterator[Item]:
    """Yield every Markdown file of a folder, or one file, as an entry of `project`."""
    files = [path] if path.is_file() else sorted(path.rglob("*.md"))
    base = path.parent if path.is_file() else path
    for file in files:
        # A link could lead out of the folder, to what nobody meant to import.
        if file.is_symlink() or not file.is_file():
            continue
        yield _read(file, file.relative_to(base).as_posix(), project)


def read_note(data: bytes, place: str, project: str) -> Item:
    """Return the Markdown of one file as an entry of `project`, or what is wrong with it."""
    if len(data) > MAX_LINE_BYTES:
        return _too_long(place)
    try:
        front, text = read_front(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        return Broken(place, "", f"is not UTF-8 at byte {error.start}")
    except InvalidInputError as error:
        return Broken(place, "", error.message)
    return Found(place, moved(_document(front, text, place), project))


def read_front(text: str) -> tuple[Front, str]:
    """Return the front matter of a text, and what follows it.

    Raises:
        InvalidInputError: a line of it is neither a field nor an item of one.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if (found := _FRONT.match(text)) is None:
        return {}, text.strip("\n")
    front: Front = {}
    name = ""
    for line in found["front"].splitlines():
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        if stripped.startswith(_LIST_ITEM) and isinstance(front.get(name), list):
            front[name].append(_value(stripped.removeprefix(_LIST_ITEM)))
        elif field := _FIELD.fullmatch(line.rstrip()):
            name = field["name"]
            front[name] = _value(field["value"]) if field["value"] else []
        else:
            raise InvalidInputError(f"the front matter has a line {line[:64]!r}", field="front")
    return front, text[found.end() :].strip("\n")


def _read(file: Path, place: str, project: str) -> Item:
    try:
        if file.stat().st_size > MAX_LINE_BYTES:
            return _too_long(place)
        return read_note(file.read_bytes(), place, project)
    except OSError as error:
        return Broken(place, "", error.strerror or str(error))


def _too_long(place: str) -> Broken:
    return Broken(place, "", f"is longer than {MAX_LINE_BYTES:,} bytes")


def _document(front: Front, text: str, place: str) -> Document:
    known = {name: value for name, value in front.items() if name in FIELD_ORDER}
    other = {name: value for name, value in front.items() if name not in known and value != []}
    kind = _kind(known.pop("kind", None), other)
    heading = _HEADING.search(text)
    title = known.get("title") or (heading["title"] if heading else Path(place).stem)
    document = {
        **{name: value for name, value in known.items() if value != []},
        "id": known.get("id") or _local_id(str(other.get("permalink", place))),
        "kind": kind.value,
        "title": str(title),
        "body": _body(kind, text, known.get("body")),
    }
    if "tags" in known:
        document["tags"] = _tags(known["tags"])
    if isinstance(known.get("source"), str):
        document["source"] = {"type": known["source"]}
    metadata = known.get("metadata", {})
    if other and isinstance(metadata, dict):
        document["metadata"] = {**other, **metadata}
    return document


def _kind(given: Any, other: Front) -> Kind:
    """Return the kind that a file names; another program's `type` counts when it is one of ours."""
    if given is None and other.get("type") in frozenset(Kind):
        given = other.pop("type")
    return Kind(given) if given in frozenset(Kind) else Kind.NOTE


def _body(kind: Kind, text: str, rest: Any) -> dict[str, Any]:
    body = dict(rest) if isinstance(rest, dict) else {}
    main = MAIN_FIELDS[kind][0]
    if main in LIST_FIELDS:
        lines = [line.strip().removeprefix(_LIST_ITEM) for line in text.splitlines()]
        body[main] = [line for line in lines if line]
    elif text or not body:
        body[main] = text
    return body


def _tags(given: Any) -> Any:
    if isinstance(given, str):
        return [tag.lstrip("#") for tag in re.split(r"[,\s]+", given) if tag.lstrip("#")]
    return [str(tag).lstrip("#") for tag in given] if isinstance(given, list) else given


def _local_id(given: str) -> str:
    if LOCAL_ID.fullmatch(given):
        return given
    return derived_local_id(hashlib.sha256(b"markdown\0" + given.encode()).digest())


def _value(text: str) -> Any:
    """Return a plain value of YAML: JSON, a list in brackets, a quoted or a bare text."""
    text = text.strip()
    try:
        return read_strictly(text.encode(), DEFAULT_LIMITS)
    except InvalidInputError:
        pass
    if text.startswith("[") and text.endswith("]"):
        return [_value(item) for item in text[1:-1].split(",") if item.strip()]
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    return text
