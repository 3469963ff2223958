"""Turns a conversation into entries by rules, each with its provenance.

The id of an entry is a hash of the conversation and the text, so that mining the same export
again, or a later one of the same conversations, gives the same ids.
"""

import hashlib
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from qms.features.mining.blocks import Code, Steps, find_code, find_steps, without_code
from qms.features.mining.conversation import Conversation, Message
from qms.features.mining.statements import Statement, find_statements
from qms.memory.bodies import Kind
from qms.memory.entry import Retention
from qms.memory.validation import instant_text

ID_PREFIX = "mined-"

MAX_SPOKEN_BYTES = 20_000
"""A language model gets at most this much of a conversation."""

_TITLE_CHARACTERS = 100
_BLOCK_CONFIDENCE = 0.6
_REASON = re.compile(r"\b(?:because|so that|since)\b\s+(.+)", re.IGNORECASE)


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """The fields that all entries of one run share."""

    format: str
    retention: Retention = Retention.MID
    namespace: str | None = None


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """A memory found in a conversation, before it becomes an entry."""

    rule: str
    kind: Kind
    title: str
    body: dict[str, Any]
    confidence: float
    message: Message
    method: str = "rule"


def find_memories(conversation: Conversation, *, says: bool = True) -> Iterator[Memory]:
    """Yield the memories that the rules find; of code with one name, the last version.

    Without `says`, sentences are left to a language model.
    """
    kept: dict[str, Memory] = {}
    for message in conversation.messages:
        for code in find_code(message.text):
            kept[f"{code.language} {code.name or code.text}"] = _code(code, message, conversation)
        prose = without_code(message.text)
        for steps in find_steps(prose):
            yield _procedure(steps, message, conversation)
        if says and message.is_person:
            for statement in find_statements(prose):
                yield _said(statement, message)
    yield from kept.values()


def entry_of(memory: Memory, conversation: Conversation, provenance: Provenance) -> dict[str, Any]:
    """Return the entry of a memory, with a reference to its message."""
    message = memory.message
    metadata = {
        "minedFrom": provenance.format,
        "method": memory.method,
        "conversationId": conversation.id,
        "conversationTitle": conversation.title,
        "messageId": message.id,
        "author": message.author,
    }
    entry: dict[str, Any] = {
        "id": _entry_id(memory, conversation, provenance),
        "kind": memory.kind.value,
        "title": memory.title,
        "body": memory.body,
        "tags": ["mined", provenance.format, memory.rule],
        "source": {"type": provenance.format, "path": conversation.path},
        "retention": provenance.retention.value,
        "confidence": memory.confidence,
        "metadata": {name: value for name, value in metadata.items() if value},
    }
    if message.at_utc is not None:
        entry["timestamps"] = {"sourceUtc": instant_text(message.at_utc)}
    if provenance.namespace is not None:
        entry["namespace"] = provenance.namespace
    return entry


def statement_memory(
    rule: str, text: str, message: Message, *, confidence: float, method: str = "rule"
) -> Memory:
    """Return a sentence as a decision or a fact; a preference is a fact about its author."""
    if rule == "decision":
        reason = _REASON.search(text)
        body = {"decision": text, "rationale": reason[1] if reason else None}
        body["owner"] = message.author
    else:
        said = f"said by {message.author}" if message.author else None
        body = {"statement": text, "justification": said}
    return Memory(
        rule=rule,
        kind=Kind.DECISION if rule == "decision" else Kind.FACT,
        title=_short(text),
        body={name: value for name, value in body.items() if value},
        confidence=confidence,
        message=message,
        method=method,
    )


def spoken_text(conversation: Conversation) -> str:
    """Return the texts of people in a conversation, up to the limit of a model."""
    texts = [without_code(one.text).strip() for one in conversation.messages if one.is_person]
    said = "\n\n".join(text for text in texts if text).encode("utf-8", "replace")
    return said[:MAX_SPOKEN_BYTES].decode("utf-8", "ignore")


def memory_by_model(statement: Statement, conversation: Conversation) -> Memory:
    """Return a model's statement as a memory, with the message that shares most of its words."""
    words = set(statement.text.lower().split())
    people = [one for one in conversation.messages if one.is_person] or conversation.messages
    origin = max(people, key=lambda one: len(words.intersection(one.text.lower().split())))
    return statement_memory(
        statement.rule, statement.text, origin, confidence=statement.confidence, method="llm"
    )


def _said(statement: Statement, message: Message) -> Memory:
    return statement_memory(
        statement.rule, statement.text, message, confidence=statement.confidence
    )


def _procedure(steps: Steps, message: Message, conversation: Conversation) -> Memory:
    return Memory(
        rule="procedure",
        kind=Kind.PROCEDURE,
        title=_short(steps.heading or conversation.title or steps.steps[0]),
        body={"steps": steps.steps},
        confidence=_BLOCK_CONFIDENCE,
        message=message,
    )


def _code(code: Code, message: Message, conversation: Conversation) -> Memory:
    about = " · ".join(part for part in (code.name, conversation.title) if part)
    return Memory(
        rule="code",
        kind=Kind.CODE_SNIPPET,
        title=_short(f"{code.language}: {about or code.text.strip()}"),
        body={"snippet": code.text, "language": code.language},
        confidence=_BLOCK_CONFIDENCE,
        message=message,
    )


def _entry_id(memory: Memory, conversation: Conversation, provenance: Provenance) -> str:
    said = " ".join(str(value) for value in memory.body.values()).casefold()
    parts = (provenance.format, conversation.id, memory.rule, said)
    name = "\0".join(parts).encode("utf-8", "replace")
    return ID_PREFIX + hashlib.sha256(name).hexdigest()[:32]


def _short(text: str) -> str:
    line = " ".join(text.split())
    if len(line) <= _TITLE_CHARACTERS:
        return line
    cut = line[: _TITLE_CHARACTERS - 1]
    return (cut.rpartition(" ")[0] or cut).rstrip() + "…"
