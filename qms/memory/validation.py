"""Validates entries, and computes their stored form and version.

Load, fold and every command use this module, so that they agree on what an entry is.
"""

import hashlib
import math
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from qms.memory.bodies import (
    BODY_TYPES,
    LIST_FIELDS,
    MAIN_FIELDS,
    Kind,
    body_from_text,
    kind_named,
    main_text,
    with_main_text,
)
from qms.memory.entry import (
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
from qms.memory.errors import InvalidInputError, invalid
from qms.memory.limits import Limits
from qms.memory.lines import check_depth, encode_line
from qms.memory.problems import MAX_PROBLEMS, Problem, all_told, nearest, problems_of, told
from qms.memory.relations import RELATION_TYPE, TYPE_RULE
from qms.memory.slugs import is_slug
from qms.memory.texts import NO_TEXT, SHOWN_KEY

_TITLE_CHARACTERS = 80
_canonical_encoder = msgspec.json.Encoder(order="sorted")
_KINDS = frozenset(kind.value for kind in Kind)


@lru_cache(maxsize=256)
def instant_text(instant: datetime) -> str:
    """Return an instant as RFC 3339 in UTC with milliseconds."""
    return instant.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def check(
    document: Document, project: str, limits: Limits, *, known: Document | None = None
) -> Entry:
    """Return the typed reading of a document that is a valid entry of `project`.

    A field that equals the one in `known`, the stored entry, may hold longer texts.

    Raises:
        InvalidInputError: names the field and, where one is exceeded, the limit.
    """
    entry = _typed(document)
    faults: list[InvalidInputError] = []
    for rule in _RULES:
        try:
            rule(entry, _Checked(document, project, limits, known))
        except InvalidInputError as error:
            faults.append(error)
    if faults:
        raise all_told(faults)
    return entry


class _Checked(NamedTuple):
    """The document that is checked, and what it is checked against."""

    document: Document
    project: str
    limits: Limits
    known: Document | None


def check_texts(document: Document, limits: Limits, *, known: Document | None = None) -> None:
    """Raise `InvalidInputError` when a text or a key of an entry or a patch is over its limit."""
    if check_depth(document, limits) <= limits.text_bytes:
        return
    for field, value in document.items():
        if field in NO_TEXT or (known is not None and field in known and known[field] == value):
            continue
        if field not in FIELD_ORDER:
            _check_text(field[:SHOWN_KEY], field, limits.text_bytes, "textBytes")
        _check_texts(field[:SHOWN_KEY], value, limits)


def long_texts(document: Document, limits: Limits) -> list[str]:
    """Return a message for each field of a stored entry that has a text over the limit."""
    found = []
    for field, value in document.items():
        try:
            check_texts({field: value}, limits)
        except InvalidInputError as error:
            found.append(error.message)
    return found


def check_size(line: bytes, limits: Limits) -> None:
    """Raise `InvalidInputError` when an encoded entry is longer than a line may be."""
    if len(line) > limits.line_bytes:
        raise over_limit("entry", len(line), limits.line_bytes, "lineBytes")


def over_limit(field: str, actual: int, maximum: int, limit: str) -> InvalidInputError:
    """Return the error that names a field, its size and the limit that it exceeds."""
    return invalid(
        field, f"{actual} is over the limit {limit} of {maximum}", limit=limit, maximum=maximum
    )


def complete(
    document: Document,
    *,
    project: str,
    local_id: str,
    instant: datetime,
    is_new: bool | None = None,
) -> Document:
    """Return the document with the fields that the server adds when its author left them out.

    Without `is_new` a document without an id is a new entry.
    """
    given_id = document.get("id")
    kind = document.get("kind")
    is_new = not given_id if is_new is None else is_new
    result = dict(with_main_text(document, is_new=is_new)[0])
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
        return False  # the store implies the project, and the id has it
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


def _typed(document: Document) -> Entry:
    try:
        entry = msgspec.convert(document, Entry)
        msgspec.convert(entry.body, BODY_TYPES[entry.kind])
    except msgspec.ValidationError:
        raise told(_type_problems(document)) from None
    return entry


def _type_problems(document: Document) -> list[Problem]:
    """Return every field that is missing or has the wrong type, the kind and the body first."""
    problems = [*_kind_problems(document)]
    # Without a valid kind and body there is no text to make a title from.
    named = {one.field for one in problems} | ({"title"} if problems else set())
    problems += (one for one in problems_of(document, Entry) if one.field not in named)
    kind, body = kind_named(document.get("kind")), document.get("body")
    if kind is not None and isinstance(body, dict):
        problems += problems_of(body, BODY_TYPES[kind], place="body")
    return problems[:MAX_PROBLEMS]


def _kind_problems(document: Document) -> Iterator[Problem]:
    if "body" not in document:
        yield Problem("body", "is required")
    kind = document.get("kind")
    if kind is None:
        yield Problem("kind", f"is required: one of {', '.join(Kind)}")
    elif kind_named(kind) is None:
        near = nearest(str(kind)[:SHOWN_KEY], [*Kind])
        hint = f"; did you mean {near[0]}?" if near else ""
        yield Problem("kind", f"{str(kind)[:64]!r} is not one of {', '.join(Kind)}{hint}")


def _check_version(entry: Entry, _checked: _Checked) -> None:
    if entry.schema_version != SCHEMA_VERSION:
        raise invalid(
            "schemaVersion", f"{entry.schema_version} is not supported: it must be {SCHEMA_VERSION}"
        )


def _check_identity(entry: Entry, checked: _Checked) -> None:
    project = checked.project
    owner, local = split_id(entry.id)
    if owner != project:
        raise invalid("id", f"{entry.id[:200]!r} does not begin with {project}:")
    if not LOCAL_ID.fullmatch(local):
        raise invalid("id", "the part after the colon must be 1 to 128 of A-Z a-z 0-9 . _ ~ -")
    if entry.project is not None and entry.project != project:
        raise invalid("project", f"{entry.project[:64]!r} is not {project}")


def _check_body(entry: Entry, _checked: _Checked) -> None:
    kind, body = entry.kind, entry.body
    fields = MAIN_FIELDS[kind]
    if fields[0] not in LIST_FIELDS:
        if not any(isinstance(body.get(field), str) and body[field].strip() for field in fields):
            raise invalid(f"body.{fields[0]}", "is required and must not be empty")
    elif kind is Kind.PROCEDURE and not any(step.strip() for step in body[fields[0]]):
        raise invalid(f"body.{fields[0]}", "needs at least one step")


def _check_texts(path: str, value: Any, limits: Limits) -> None:
    if isinstance(value, str):
        _check_text(path, value, limits.text_bytes, "textBytes")
    elif isinstance(value, dict):
        for key, item in value.items():
            inner = f"{path}.{key[:SHOWN_KEY]}"
            _check_text(inner, key, limits.text_bytes, "textBytes")
            _check_texts(inner, item, limits)
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


def _check_title(entry: Entry, checked: _Checked) -> None:
    _check_text("title", entry.title, checked.limits.title_bytes, "titleBytes")
    if not entry.title.strip():
        raise invalid("title", "is required: the body has no text to make a title from")


def _check_tags(entry: Entry, checked: _Checked) -> None:
    tags, limits = entry.tags, checked.limits
    if len(tags) > limits.tags:
        raise over_limit("tags", len(tags), limits.tags, "tags")
    for position, tag in enumerate(tags):
        if not tag.strip():
            raise invalid(f"tags[{position}]", "is empty")
        _check_text(f"tags[{position}]", tag, limits.tag_bytes, "tagBytes")


def _check_relations(entry: Entry, checked: _Checked) -> None:
    entry_id, relations, limits = entry.id, entry.relations, checked.limits
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


def _check_names(entry: Entry, _checked: _Checked) -> None:
    if entry.namespace is not None and not NAMESPACE.fullmatch(entry.namespace):
        raise invalid("namespace", "must be 1 to 128 characters without spaces, / or NUL")
    if entry.agent_id is not None and not AGENT_ID.fullmatch(entry.agent_id):
        raise invalid("agentId", "must be 1 to 128 of A-Z a-z 0-9 _ - : @ . /")


def _check_vector(entry: Entry, _checked: _Checked) -> None:
    if entry.embedding is not None and not all(map(math.isfinite, entry.embedding)):
        raise invalid("embedding", "every number must be finite")


def _check_all_texts(_entry: Entry, checked: _Checked) -> None:
    check_texts(checked.document, checked.limits, known=checked.known)


_RULES: tuple[Callable[[Entry, _Checked], None], ...] = (
    _check_version,
    _check_identity,
    _check_body,
    _check_title,
    _check_tags,
    _check_relations,
    _check_names,
    _check_vector,
    _check_all_texts,
)


def encode_checked(document: Document, limits: Limits) -> bytes:
    """Return a valid document's line.

    Raises:
        InvalidInputError: the line is longer than a line may be.
    """
    line = encode_line(document)
    check_size(line, limits)
    return line
