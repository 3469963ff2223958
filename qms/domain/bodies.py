"""The thirteen kinds of entry and the body of each.

Kinds differ only in their body. Each body has one main text; its other fields are optional, and
fields that are not named here are kept.
"""

from enum import StrEnum
from typing import Any

import msgspec

from qms.domain.relations import AwareTime


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
