"""Entries of another project of this server, a line each, as they stand in `entries.jsonl`."""

from collections.abc import Iterator
from typing import Any

from qms.codec.lines import read_strictly
from qms.domain.entry import Document, split_id
from qms.domain.errors import QmsError
from qms.domain.limits import DEFAULT_LIMITS
from qms.ingest.importers.items import Broken, Found, Item, Opener, read_lines


def read_jsonl(open_file: Opener, project: str) -> Iterator[Item]:
    """Yield every entry as one of `project`, with relations inside of its own project kept so."""
    with open_file() as file:
        for line in read_lines(file):
            if isinstance(line, Broken):
                yield line
                continue
            place, data = line
            yield read_entry(place, data, project)


def read_entry(place: str, data: bytes, project: str) -> Item:
    """Return one entry as one of `project`, or what is wrong with it."""
    try:
        value = read_strictly(data, DEFAULT_LIMITS)
    except QmsError as error:
        return Broken(place, str(error.details.get("field", "")), error.message)
    if not isinstance(value, dict):
        return Broken(place, "", "is no object")
    return Found(place, moved(value, project))


def moved(document: Document, project: str) -> Document:
    """Return an entry with a local id, and its relations inside of its project in `project`."""
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
