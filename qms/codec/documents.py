"""Documents: whether one is a valid entry, its canonical form, and its version.

Load, fold and every command ask this module, so that they agree on what an entry is.
"""

import hashlib
import math
import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import msgspec

from qms.codec.lines import check_depth, encode_line
from qms.domain.bodies import BODY_TYPES, LIST_FIELDS, MAIN_FIELDS, Kind, body_from_text, main_text
from qms.domain.entry import (
    AGENT_ID,
    FIELD_DEFAULTS,
    FIELD_ORDER,
    LOCAL_ID,
    NAMESPACE,
    SCHEMA_VERSION,
    Document,
    Entry,
    Header,
    split_id,
)
from qms.domain.errors import InvalidInputError, invalid
from qms.domain.limits import Limits
from qms.domain.relations import RELATION_TYPE, TYPE_RULE, Relation
from qms.domain.slugs import is_slug

_TITLE_CHARACTERS = 80
_VALIDATION_PATH = re.compile(r" - at `(?:key in )?\$?\.?(.*)`$")
_canonical_encoder = msgspec.json.Encoder(order="sorted")
_KINDS = frozenset(kind.value for kind in Kind)


@lru_cache(maxsize=256)
def instant_text(instant: datetime) -> str:
    """Return an instant as RFC 3339 in UTC with milliseconds."""
    return instant.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def check(document: Document, project: str, limits: Limits) -> Entry:
    """Return the typed reading of a document that is a valid entry of `project`.

    Raises:
        InvalidInputError: names the field and, where one is exceeded, the limit.
    """
    _check_kind(document)
    entry: Entry = _converted(document, Entry, "")
    if entry.schema_version != SCHEMA_VERSION:
        raise invalid(
            "schemaVersion", f"{entry.schema_version} is not {SCHEMA_VERSION}, the only one taken"
        )
    _check_identity(entry, project)
    _check_body(entry.kind, entry.body, limits)
    _check_text("title", entry.title, limits.title_bytes, "titleBytes")
    if not entry.title.strip():
        raise invalid("title", "is required: the body has no text to make one of")
    _check_tags(entry.tags, limits)
    _check_relations(entry.id, entry.relations, limits)
    _check_names(entry)
    if entry.embedding is not None and not all(map(math.isfinite, entry.embedding)):
        raise invalid("embedding", "every number must be finite")
    check_depth(document, limits)
    return entry


def check_size(line: bytes, limits: Limits) -> None:
    """Raise `InvalidInputError` when an encoded entry is longer than a line may be."""
    if len(line) > limits.line_bytes:
        raise over_limit("entry", len(line), limits.line_bytes, "lineBytes")


def over_limit(field: str, actual: int, maximum: int, limit: str) -> InvalidInputError:
    """Return the error that names a field, its size and the limit that it exceeds."""
    return invalid(
        field, f"{actual} is over the limit {limit} of {maximum}", limit=limit, maximum=maximum
    )


def complete(document: Document, *, project: str, local_id: str, instant: datetime) -> Document:
    """Return the document with the fields that the server adds when its author left them out."""
    given_id = document.get("id")
    kind = document.get("kind")
    result = dict(document)
    result.setdefault("schemaVersion", SCHEMA_VERSION)
    if given_id is None or given_id == "":
        result["id"] = f"{project}:{local_id}"
    elif isinstance(given_id, str) and ":" not in given_id:
        result["id"] = f"{project}:{given_id}"
    if isinstance(kind, str) and kind in _KINDS:
        if isinstance(result.get("body"), str):
            result["body"] = body_from_text(Kind(kind), result["body"])
        if result.get("title") in (None, "") and isinstance(result.get("body"), dict):
            result["title"] = title_from(main_text(Kind(kind), result["body"]))
    result["timestamps"] = _completed_timestamps(document.get("timestamps"), instant)
    return result if result != document else document


def title_from(text: str) -> str:
    """Return a title made of the beginning of a text."""
    first = " ".join(text.strip().split("\n", 1)[0].split())
    if len(first) <= _TITLE_CHARACTERS:
        return first
    head = first[: _TITLE_CHARACTERS - 1]
    return (head.rsplit(" ", 1)[0] if " " in head[40:] else head) + "…"


def header_of(document: Document) -> Header:
    """Return the header of a checked document."""
    return msgspec.convert(document, Header)


def normalise(document: Document, like: Document | None = None) -> Document:
    """Return the stored form: defaults left out, fields in order.

    Fields that `like` has keep the place they have there; others follow in the order of
    `FIELD_ORDER`, then as given.
    """
    order = [*(like or ()), *FIELD_ORDER, *document]
    return {
        key: document[key]
        for key in dict.fromkeys(order)
        if key in document and _is_kept(key, document)
    }


def version_of(document: Document) -> str:
    """Return the etag of an entry: 16 hex digits over its canonical JSON."""
    kept = {key: value for key, value in document.items() if _is_kept(key, document)}
    return hashlib.sha256(_canonical_encoder.encode(kept)).hexdigest()[:16]


def _is_kept(key: str, document: Document) -> bool:
    if key == "project":
        return False  # the store says which project it is; the id carries it too
    return key not in FIELD_DEFAULTS or document[key] != FIELD_DEFAULTS[key]


def _completed_timestamps(given: Any, instant: datetime) -> Any:
    if given is None:
        given = {}
    if not isinstance(given, dict):
        return given
    now = instant_text(instant)
    result = dict(given)
    result.setdefault("createdUtc", given.get("updatedUtc", now))
    result.setdefault("updatedUtc", now)
    return result


def _converted(value: Any, wanted: type[Any], prefix: str) -> Any:
    try:
        return msgspec.convert(value, wanted)
    except msgspec.ValidationError as error:
        message = str(error)
        path = _VALIDATION_PATH.search(message)
        field = prefix + (path.group(1) if path else "")
        if message.startswith("Object missing required field"):
            name = message.split("`")[1]
            field = f"{field}.{name}" if field and not field.endswith(".") else field + name
            raise invalid(field, "is required") from None
        reason = message.split(" - at `", maxsplit=1)[0]
        raise invalid(field or "entry", reason[0].lower() + reason[1:]) from None


def _check_kind(document: Document) -> None:
    if "body" not in document:
        raise invalid("body", "is required")
    kind = document.get("kind")
    if kind is None:
        raise invalid("kind", f"is required: one of {', '.join(Kind)}")
    if not isinstance(kind, str) or kind not in _KINDS:
        raise invalid("kind", f"{str(kind)[:64]!r} is not one of {', '.join(Kind)}")


def _check_identity(entry: Entry, project: str) -> None:
    owner, local = split_id(entry.id)
    if owner != project:
        raise invalid("id", f"{entry.id[:200]!r} does not begin with {project}:")
    if not LOCAL_ID.fullmatch(local):
        raise invalid("id", "the part after the colon must be 1 to 128 of A-Z a-z 0-9 . _ ~ -")
    if entry.project is not None and entry.project != project:
        raise invalid("project", f"{entry.project[:64]!r} is not {project}")


def _check_body(kind: Kind, body: dict[str, Any], limits: Limits) -> None:
    _converted(body, BODY_TYPES[kind], "body.")
    fields = MAIN_FIELDS[kind]
    if fields[0] not in LIST_FIELDS:
        if not any(isinstance(body.get(field), str) and body[field].strip() for field in fields):
            raise invalid(f"body.{fields[0]}", "is required and must not be empty")
    elif kind is Kind.PROCEDURE and not any(step.strip() for step in body[fields[0]]):
        raise invalid(f"body.{fields[0]}", "needs at least one step")
    _check_texts("body", body, limits)


def _check_texts(path: str, value: Any, limits: Limits) -> None:
    if isinstance(value, str):
        _check_text(path, value, limits.text_bytes, "textBytes")
    elif isinstance(value, dict):
        for key, item in value.items():
            _check_texts(f"{path}.{key}", item, limits)
    elif isinstance(value, list):
        for position, item in enumerate(value):
            _check_texts(f"{path}[{position}]", item, limits)


def _check_text(field: str, text: str, maximum: int, limit: str) -> None:
    if len(text) * 4 <= maximum:
        return
    size = len(text.encode("utf-8"))
    if size > maximum:
        raise invalid(
            field,
            f"{size} bytes are over the limit {limit} of {maximum}",
            limit=limit,
            maximum=maximum,
        )


def _check_tags(tags: list[str], limits: Limits) -> None:
    if len(tags) > limits.tags:
        raise over_limit("tags", len(tags), limits.tags, "tags")
    for position, tag in enumerate(tags):
        if not tag.strip():
            raise invalid(f"tags[{position}]", "is empty")
        _check_text(f"tags[{position}]", tag, limits.tag_bytes, "tagBytes")


def _check_relations(entry_id: str, relations: list[Relation], limits: Limits) -> None:
    if len(relations) > limits.relations:
        raise over_limit("relations", len(relations), limits.relations, "relations")
    for position, relation in enumerate(relations):
        field = f"relations[{position}]"
        if not RELATION_TYPE.fullmatch(relation.type):
            raise invalid(f"{field}.type", TYPE_RULE)
        owner, local = split_id(relation.target_id)
        if not is_slug(owner) or not LOCAL_ID.fullmatch(local):
            raise invalid(f"{field}.targetId", "must be <project>:<id>")
        if relation.target_id == entry_id:
            raise invalid(f"{field}.targetId", "points to the entry itself")
        if not math.isfinite(relation.weight):
            raise invalid(f"{field}.weight", "must be finite")


def _check_names(entry: Entry) -> None:
    if entry.namespace is not None and not NAMESPACE.fullmatch(entry.namespace):
        raise invalid("namespace", "must be 1 to 128 characters without spaces, / or NUL")
    if entry.agent_id is not None and not AGENT_ID.fullmatch(entry.agent_id):
        raise invalid("agentId", "must be 1 to 128 of A-Z a-z 0-9 _ - : @ . /")


def encode_checked(document: Document, limits: Limits) -> bytes:
    """Return a valid document's line.

    Raises:
        InvalidInputError: the line is longer than a line may be.
    """
    line = encode_line(document)
    check_size(line, limits)
    return line
