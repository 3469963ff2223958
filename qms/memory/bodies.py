"""The thirteen kinds of entry and the body of each.

Kinds differ only in their body. Each body has one main text; its other fields are optional, and
fields that are not named here are kept.
"""

from enum import StrEnum
from typing import Any

import msgspec

from qms.memory.relations import AwareTime


class Kind(StrEnum):
    """What sort of memory an entry is."""

    NOTE = "note"
    FACT = "fact"
    PROCEDURE = "procedure"
    CONVERSATION_TURN = "conversationTurn"
    TIMELINE_EVENT = "timelineEvent"
    CODE_SNIPPET = "codeSnippet"
    DECISION = "decision"
    OBSERVATION = "observation"
    QUESTION = "question"
    TASK = "task"
    DOCUMENT = "document"
    CHUNK = "chunk"
    ENTITY = "entity"


USUAL_KINDS = (Kind.NOTE, Kind.FACT, Kind.DECISION, Kind.PROCEDURE, Kind.TASK, Kind.QUESTION)
"""The kinds that flat requests name in their schema; they take the others too."""


def usual_kinds(description: str) -> msgspec.Meta:
    """Return the annotation of an optional kind whose schema names the usual ones."""
    return msgspec.Meta(
        description=description, extra_json_schema={"enum": [kind.value for kind in USUAL_KINDS]}
    )


class _Body(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What every body shares: camelCase names and optional fields that may be left out."""


class Metric(_Body, frozen=True):
    """A named measurement inside a fact."""

    name: str
    value: float | str | None = None
    unit: str | None = None


class FileSpan(_Body, frozen=True):
    """A place in a source file."""

    path: str
    line_start: int | None = None
    line_end: int | None = None


class Note(_Body, frozen=True):
    """Free text."""

    text: str
    context: str | None = None


class Fact(_Body, frozen=True):
    """Something held to be true."""

    statement: str
    justification: str | None = None
    metrics: list[Metric] | None = None


class Procedure(_Body, frozen=True):
    """Steps in order."""

    steps: list[str]
    prerequisites: list[str] | None = None


class ConversationTurn(_Body, frozen=True):
    """One turn of a conversation."""

    content: str
    role: str | None = None
    conversation_id: str | None = None
    ordinal: int | None = None


class TimelineEvent(_Body, frozen=True):
    """Something that happened."""

    summary: str
    occurred_utc: AwareTime | None = None
    impact: str | None = None
    links: list[str] | None = None


class CodeSnippet(_Body, frozen=True):
    """A piece of code."""

    snippet: str
    language: str | None = None
    context: str | None = None
    explanation: str | None = None
    files: list[FileSpan] | None = None
    execution_status: str | None = None
    last_run_utc: AwareTime | None = None


class Decision(_Body, frozen=True):
    """What was decided, and why."""

    decision: str
    question_id: str | None = None
    rationale: str | None = None
    owner: str | None = None


class Observation(_Body, frozen=True):
    """A measured value."""

    metric: str
    value: float | str | bool | None = None
    unit: str | None = None
    period: str | None = None
    source: str | None = None


class Question(_Body, frozen=True):
    """Something still to be answered."""

    text: str
    context: str | None = None
    related_entries: list[str] | None = None


class Task(_Body, frozen=True):
    """Something to be done."""

    summary: str
    status: str | None = None
    assignee: str | None = None
    due_utc: AwareTime | None = None


class Document(_Body, frozen=True):
    """A document, by its text or its path."""

    text: str | None = None
    path: str | None = None
    mime: str | None = None
    sha256: str | None = None


class Chunk(_Body, frozen=True):
    """A piece of a document."""

    text: str
    ordinal: int | None = None


class Entity(_Body, frozen=True):
    """A thing and what was observed of it."""

    observations: list[str]
    entity_type: str | None = None


BODY_TYPES: dict[Kind, type[_Body]] = {
    Kind.NOTE: Note,
    Kind.FACT: Fact,
    Kind.PROCEDURE: Procedure,
    Kind.CONVERSATION_TURN: ConversationTurn,
    Kind.TIMELINE_EVENT: TimelineEvent,
    Kind.CODE_SNIPPET: CodeSnippet,
    Kind.DECISION: Decision,
    Kind.OBSERVATION: Observation,
    Kind.QUESTION: Question,
    Kind.TASK: Task,
    Kind.DOCUMENT: Document,
    Kind.CHUNK: Chunk,
    Kind.ENTITY: Entity,
}

MAIN_FIELDS: dict[Kind, tuple[str, ...]] = {
    Kind.NOTE: ("text",),
    Kind.FACT: ("statement",),
    Kind.PROCEDURE: ("steps",),
    Kind.CONVERSATION_TURN: ("content",),
    Kind.TIMELINE_EVENT: ("summary",),
    Kind.CODE_SNIPPET: ("snippet",),
    Kind.DECISION: ("decision",),
    Kind.OBSERVATION: ("metric",),
    Kind.QUESTION: ("text",),
    Kind.TASK: ("summary",),
    Kind.DOCUMENT: ("text", "path"),
    Kind.CHUNK: ("text",),
    Kind.ENTITY: ("observations",),
}
"""Where the main text of each kind is, in order of preference."""

LIST_FIELDS = frozenset({"steps", "observations"})
"""Main fields that hold a list of texts."""

GENERAL_NAMES = ("content", "text")
"""Names under which the main text of any kind may be given, unless its body has such a field."""

_KINDS = frozenset(kind.value for kind in Kind)
_FIRST_FIELDS = tuple(dict.fromkeys(fields[0] for fields in MAIN_FIELDS.values()))


def kind_named(name: Any) -> Kind | None:
    """Return the kind of this name, or None."""
    return Kind(name) if isinstance(name, str) and name in _KINDS else None


def body_fields(kind: Kind) -> tuple[str, ...]:
    """Return the names of the fields that the body of a kind has."""
    return BODY_TYPES[kind].__struct_encode_fields__


def body_from_text(kind: Kind, text: str) -> dict[str, Any]:
    """Return the body of `kind` whose main text is `text`."""
    field = MAIN_FIELDS[kind][0]
    return {field: [text] if field in LIST_FIELDS else text}


def main_text(kind: Kind, body: dict[str, Any]) -> str:
    """Return the main text of a body, the items of a list on lines of their own."""
    for field in MAIN_FIELDS[kind]:
        value = body.get(field)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, list):
            return "\n".join(str(item) for item in value)
    return ""


def with_main_text(entry: dict[str, Any], *, is_new: bool) -> tuple[dict[str, Any], str | None]:
    """Return the entry with its main text in the field of its kind, and a note on what was moved.

    When the main text is missing, `content` or `text` is used: of the body or, without a body, of
    the entry. In a new entry the main field of one other kind is used too.
    """
    kind, body = kind_named(entry.get("kind")), entry.get("body")
    if kind is None:
        return entry, None
    main = MAIN_FIELDS[kind][0]
    if body in (None, "", {}):
        name = next((one for one in GENERAL_NAMES if _is_text(entry.get(one))), None)
        if name is None:
            return entry, None
        kept = {key: value for key, value in entry.items() if key not in (name, "body")}
        made = {main: as_main_text(kind, entry[name])}
        return {**kept, "body": made}, f"entry.{name} was taken as body.{main}"
    name = _other_name(kind, body, is_new=is_new) if isinstance(body, dict) else None
    if name is None:
        return entry, None
    renamed = renamed_main_text(kind, body, name)
    return {**entry, "body": renamed}, f"body.{name} was taken as body.{main}"


def renamed_main_text(kind: Kind, body: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a body with the field `name` renamed to its main field, in the same place."""
    main = MAIN_FIELDS[kind][0]
    return {
        main if key == name else key: as_main_text(kind, value) if key == name else value
        for key, value in body.items()
        if key != main
    }


def as_main_text(kind: Kind, value: str | list[str]) -> str | list[str]:
    """Return one or several texts in the form that the main field of a kind takes."""
    if MAIN_FIELDS[kind][0] in LIST_FIELDS:
        return [value] if isinstance(value, str) else value
    return value if isinstance(value, str) else "\n".join(value)


def general_name(kind: Kind, body: dict[str, Any]) -> str | None:
    """Return the first of `GENERAL_NAMES` that holds a text and is not a field of the kind."""
    own = body_fields(kind)
    return next((one for one in GENERAL_NAMES if one not in own and _is_text(body.get(one))), None)


def _other_name(kind: Kind, body: dict[str, Any], *, is_new: bool) -> str | None:
    """Return the field to use as the main text when the body lacks its own."""
    if any(body.get(field) not in (None, "") for field in MAIN_FIELDS[kind]):
        return None
    name = general_name(kind, body)
    if name is not None or not is_new:
        return name
    own = body_fields(kind)
    others = [one for one in _FIRST_FIELDS if one not in own and _is_text(body.get(one))]
    # Two texts of other kinds are ambiguous.
    return others[0] if len(others) == 1 else None


def _is_text(value: Any) -> bool:
    """Say whether a value is a non-blank text or a non-empty list of texts."""
    if isinstance(value, str):
        return bool(value.strip())
    return isinstance(value, list) and bool(value) and all(isinstance(one, str) for one in value)
