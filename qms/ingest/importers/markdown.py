"""Folders of Markdown: this server's export, basic-memory's notes, and others with front matter."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any

from qms.codec.documents import instant_text
from qms.domain.bodies import LIST_FIELDS, MAIN_FIELDS, Kind
from qms.domain.entry import FIELD_ORDER, LOCAL_ID, Document
from qms.domain.errors import InvalidInputError
from qms.domain.ids import derived_local_id
from qms.ingest.archives import Member
from qms.ingest.exports import Export
from qms.ingest.importers.front_matter import LIST_ITEM, Front, read_front
from qms.ingest.importers.items import MAX_LINE_BYTES, Broken, Found, Item, renamed
from qms.ingest.importers.jsonl import moved
from qms.ingest.importers.wiki_links import MAX_TAGS, name_key, read_marks, relations

_HEADING = re.compile(r"^# +(?P<title>.+?)[ #]*$", re.MULTILINE)
_CREATED = ("createdUtc", "created", "created_at", "date")
"""What other programs call the time at which a note was made."""

Names = Mapping[str, str]


def read_markdown(export: Export, project: str, names: Names) -> Iterator[Item]:
    """Yield every Markdown file as an entry of `project`, with its links to the others.

    `names` says which field of the front matter stands for a field of an entry.
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
    """Note by which names a file can be linked to; the first file of a name has it."""
    document = found.document
    place = PurePosixPath(found.place)
    local = str(document["id"]).rpartition(":")[2]
    metadata = document.get("metadata", {})
    aliases = metadata.get("aliases", [])
    permalink = metadata.get("permalink", "")
    names = [document["title"], found.place, place.stem, permalink]
    for name in [*names, *(aliases if isinstance(aliases, list) else [aliases])]:
        if key := name_key(str(name)):
            ids.setdefault(key, f"{project}:{local}")


def _marked(document: Document, ids: dict[str, str], project: str) -> Document:
    """Return an entry with what its text says of links, tags and categories."""
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
    heading = _HEADING.search(text)
    title = known.get("title") or (heading["title"] if heading else PurePosixPath(place).stem)
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


def _created(other: Front) -> str | None:
    for name in _CREATED:
        try:
            at = datetime.fromisoformat(str(other.get(name, "")))
        except ValueError:
            continue
        return instant_text(at if at.tzinfo else at.replace(tzinfo=UTC))
    return None


def _kind(given: Any, other: Front) -> Kind:
    """Return the kind that a file names; another program's `type` counts when it is one of ours."""
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
        return [tag.lstrip("#") for tag in re.split(r"[,\s]+", given) if tag.lstrip("#")]
    return [str(tag).lstrip("#") for tag in given] if isinstance(given, list) else given


def _local_id(given: str) -> str:
    if LOCAL_ID.fullmatch(given):
        return given
    return derived_local_id(hashlib.sha256(b"markdown\0" + given.encode()).digest())
