"""Reads Markdown folders: this server's export, basic-memory notes, and other front matter."""

import hashlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any

from qms.disk.archives import Member
from qms.disk.export_files import Export
from qms.features.transfer.importers.front_matter import LIST_ITEM, Front, read_front
from qms.features.transfer.importers.items import MAX_LINE_BYTES, Broken, Found, Item, renamed
from qms.features.transfer.importers.jsonl import moved
from qms.features.transfer.importers.wiki_links import MAX_TAGS, name_key, read_marks, relations
from qms.memory.bodies import LIST_FIELDS, MAIN_FIELDS, Kind
from qms.memory.entry import FIELD_ORDER, LOCAL_ID, Document
from qms.memory.errors import InvalidInputError
from qms.memory.ids import derived_local_id
from qms.memory.validation import instant_text

_HEADING = "# "
_CREATED = ("createdUtc", "created", "created_at", "date")
"""Names of the creation time in other programs."""

_MAX_ALIASES = 100
"""At most this many other names of a file are used for links."""

Names = Mapping[str, str]


def read_markdown(export: Export, project: str, names: Names) -> Iterator[Item]:
    """Yield every Markdown file as an entry of `project`, with its links to the others.

    `names` maps a field of an entry to its name in the front matter.
    """
    ids: dict[str, str] = {}
    for member in export.members:
        found = _read(export, member, names)
        if isinstance(found, Found):
            _remember(ids, found, project)
    for member in export.members:
        found = _read(export, member, names)
        if isinstance(found, Found):
            yield Found(found.place, _marked(moved(found.document, project), ids, project))
        else:
            yield found


def _remember(ids: dict[str, str], found: Found, project: str) -> None:
    """Add the names by which a file can be linked; the first file with a name keeps it."""
    document = found.document
    place = PurePosixPath(found.place)
    local = str(document["id"]).rpartition(":")[2]
    metadata = document.get("metadata", {})
    aliases = metadata.get("aliases", [])
    permalink = metadata.get("permalink", "")
    names = [document["title"], found.place, place.stem, permalink]
    listed = aliases[:_MAX_ALIASES] if isinstance(aliases, list) else [aliases]
    for name in [*names, *listed]:
        if key := name_key(str(name)):
            ids.setdefault(key, f"{project}:{local}")


def _marked(document: Document, ids: dict[str, str], project: str) -> Document:
    """Return an entry with the links, tags and categories in its text."""
    text, tags = document["body"].get("text"), document.get("tags", [])
    is_own = "updatedUtc" in document.get("timestamps", {})
    if is_own or not isinstance(text, str) or not isinstance(tags, list):
        return document  # this server's own export has all of it in its front matter
    marks = read_marks(text)
    own_id = f"{project}:{document['id']}"
    more: Document = {
        "tags": list(dict.fromkeys([*tags, *marks.tags]))[:MAX_TAGS],
        "keywords": document.get("keywords", marks.categories),
        "relations": relations(marks.links, ids, own_id),
    }
    return document | {name: value for name, value in more.items() if value}


def _read(export: Export, member: Member, names: Names) -> Item:
    place = member.name
    if member.size > MAX_LINE_BYTES:
        return Broken(place, "", f"is longer than {MAX_LINE_BYTES:,} bytes")
    try:
        with export.open(member) as file:
            front, text = read_front(file.read().decode())
    except UnicodeDecodeError as error:
        return Broken(place, "", f"is not UTF-8 at byte {error.start}")
    except InvalidInputError as error:
        return Broken(place, "", error.message)
    except OSError as error:
        return Broken(place, "", error.strerror or str(error))
    return Found(place, _document(renamed(front, names), text, place))


def _document(front: Front, text: str, place: str) -> Document:
    known = {name: value for name, value in front.items() if name in FIELD_ORDER}
    other = {name: value for name, value in front.items() if name not in known and value != []}
    kind = _kind(known.pop("kind", None), other)
    title = known.get("title") or _heading(text) or PurePosixPath(place).stem
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
    if "timestamps" not in known and (created := _created(other)) is not None:
        document["timestamps"] = {"createdUtc": created}
    metadata = known.get("metadata", {})
    if other and isinstance(metadata, dict):
        document["metadata"] = {**other, **metadata}
    return document


def _heading(text: str) -> str:
    """Return the first heading of a text, or nothing."""
    for line in text.split("\n"):
        if line.startswith(_HEADING) and (title := line.removeprefix(_HEADING).strip(" ")):
            return title.rstrip(" #") or title[:1]
    return ""


def _created(other: Front) -> str | None:
    for name in _CREATED:
        try:
            at = datetime.fromisoformat(str(other.get(name, "")))
        except ValueError:
            continue
        return instant_text(at if at.tzinfo else at.replace(tzinfo=UTC))
    return None


def _kind(given: Any, other: Front) -> Kind:
    """Return the kind that a file names, in `kind` or, if it is one of our kinds, in `type`."""
    if given is None and other.get("type") in frozenset(Kind):
        given = other.pop("type")
    return Kind(given) if given in frozenset(Kind) else Kind.NOTE


def _body(kind: Kind, text: str, rest: Any) -> dict[str, Any]:
    body = dict(rest) if isinstance(rest, dict) else {}
    main = MAIN_FIELDS[kind][0]
    if main in LIST_FIELDS:
        lines = [line.strip().removeprefix(LIST_ITEM) for line in text.splitlines()]
        body[main] = [line for line in lines if line]
    elif text or not body:
        body[main] = text
    return body


def _tags(given: Any) -> Any:
    if isinstance(given, str):
        tags = given.replace(",", " ").split()
        return [tag.lstrip("#") for tag in tags if tag.lstrip("#")]
    return [str(tag).lstrip("#") for tag in given] if isinstance(given, list) else given


def _local_id(given: str) -> str:
    if LOCAL_ID.fullmatch(given):
        return given
    return derived_local_id(hashlib.sha256(b"markdown\0" + given.encode()).digest())
