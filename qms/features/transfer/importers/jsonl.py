"""Reads entries of another project of this server: lines of `entries.jsonl`, or one JSON export."""

from collections.abc import Iterator
from typing import Any

from qms.disk.json_frames import CHUNK_BYTES, Framed, Framer, Lost
from qms.features.transfer.importers.items import Broken, Found, Item, Opener, read_lines
from qms.memory.entry import Document, split_id
from qms.memory.errors import QmsError
from qms.memory.limits import DEFAULT_LIMITS
from qms.memory.lines import read_strictly


def read_jsonl(open_file: Opener, project: str) -> Iterator[Item]:
    """Yield every entry as an entry of `project`, with relations inside its old project moved."""
    with open_file() as file:
        for line in read_lines(file):
            if isinstance(line, Broken):
                yield line
                continue
            place, data = line
            yield read_entry(place, data, project)


def read_entry(place: str, data: bytes, project: str) -> Item:
    """Return one entry as an entry of `project`, or Broken with the reason."""
    try:
        value = read_strictly(data, DEFAULT_LIMITS)
    except QmsError as error:
        return Broken(place, str(error.details.get("field", "")), error.message)
    if not isinstance(value, dict):
        return Broken(place, "", "is no object")
    return Found(place, moved(value, project))


def moved(document: Document, project: str) -> Document:
    """Return an entry with a local id, and relations inside its old project moved to `project`."""
    given = document.get("id")
    owner, local = split_id(given) if isinstance(given, str) else ("", "")
    kept = {key: value for key, value in document.items() if key not in ("id", "project")}
    if local:
        kept["id"] = local
    relations = kept.get("relations")
    if isinstance(relations, list):
        kept["relations"] = [_retargeted(one, owner, project) for one in relations]
    return kept


def _retargeted(relation: Any, owner: str, project: str) -> Any:
    target = relation.get("targetId") if isinstance(relation, dict) else None
    if not isinstance(target, str):
        return relation
    there, local = split_id(target)
    return {**relation, "targetId": f"{project}:{local}"} if there in ("", owner) else relation


_IN_AN_OBJECT, _IN_AN_ARRAY = 2, 1


def read_json_export(open_file: Opener, project: str) -> Iterator[Item]:
    """Yield every entry as an entry of `project`."""
    for framed in _frames(open_file):
        place = f"byte {framed.offset:,}"
        if isinstance(framed, Lost):
            yield Broken(place, "", framed.reason)
        else:
            yield read_entry(place, framed.data, project)


def _frames(open_file: Opener) -> Iterator[Framed]:
    with open_file() as file:
        chunk = file.read(CHUNK_BYTES)
        is_array = chunk.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")
        framer = Framer(_IN_AN_ARRAY if is_array else _IN_AN_OBJECT, splits=False)
        while chunk:
            yield from framer.feed(chunk)
            chunk = file.read(CHUNK_BYTES)
    yield from framer.end()
