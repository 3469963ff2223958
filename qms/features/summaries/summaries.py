"""summaries: a summary of each entry, given, extracted or written by a language model."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from qms.commands.call import Call
from qms.commands.command import EXAMPLE_ID, command
from qms.commands.requests import Request, Response
from qms.config.settings import SummaryMethod
from qms.index.summary_cache import KeptSummary
from qms.memory.access import AccessTier
from qms.memory.bodies import main_text
from qms.memory.entry import split_id
from qms.memory.errors import UnavailableError
from qms.memory.limits import limited_by
from qms.memory.ports import ChatModel
from qms.models.chat_summarizer import ChatSummarizer
from qms.store.view import Record
from qms.text.flags import Flag, flags_of

Method = Literal["extractive", "llm"]

SHORT_CHARACTERS = 280
"""A text up to this length is its own summary."""


class SummariesRequest(Request, frozen=True):
    """The entries to summarize."""

    ids: Annotated[list[str], limited_by("results")]


class EntrySummary(msgspec.Struct, frozen=True, kw_only=True):
    """The summary of an entry, its method, and the flags of the entry."""

    id: str
    summary: str
    method: Literal["extractive", "llm", "given"]
    flags: tuple[Flag, ...] | UnsetType = UNSET


class SummariesAnswer(Response, frozen=True):
    """The summaries, in the order of the ids."""

    summaries: list[EntrySummary]


@command(
    tier=AccessTier.READER,
    toolset="core",
    help="Sum up entries in a few of their sentences. Use it for long ones",
    example={"ids": [EXAMPLE_ID]},
    read_only=True,
    idempotent=True,
    brief=True,
)
def summaries(call: Call, request: SummariesRequest) -> SummariesAnswer:
    """Return a summary of each entry: its own, or a generated one, which is cached."""
    records = [call.visible(call.find(given)) for given in request.ids]
    writer = SummaryWriter(call)
    return SummariesAnswer(summaries=[_flagged(call, record, writer) for record in records])


def _flagged(call: Call, record: Record, writer: "SummaryWriter") -> EntrySummary:
    flags = flags_of(record.line)
    return msgspec.structs.replace(_summary(call, record, writer), flags=flags or UNSET)


def _summary(call: Call, record: Record, writer: "SummaryWriter") -> EntrySummary:
    document = record.document()
    text = main_text(record.header.kind, document["body"])
    given = _given(document, text)
    if given is not None:
        return EntrySummary(id=record.header.id, summary=given, method="given")
    return _made(call, record, text, writer)


def _given(document: dict[str, Any], text: str) -> str | None:
    """Return the entry's own summary: a field `summary`, or a short text."""
    for place in (document.get("metadata") or {}, document["body"]):
        found = place.get("summary")
        if isinstance(found, str) and found.strip() and found != text:
            return found.strip()
    return text.strip() if len(text) <= SHORT_CHARACTERS else None


def _made(call: Call, record: Record, text: str, writer: "SummaryWriter") -> EntrySummary:
    entry_id = record.header.id
    store = call.context.catalog.get(split_id(entry_id)[0])
    cache = call.context.indexer.summaries(store.project)
    version = record.version()
    method = writer.method
    summary = cache.get(store.view, entry_id, version, method) if cache else None
    if summary is not None:
        return EntrySummary(id=entry_id, summary=summary, method=method)
    summary, method = writer.write(text)
    if cache is not None:
        cache.put(store.view, entry_id, KeptSummary(version, method, summary))
        call.context.indexer.wake()
    return EntrySummary(id=entry_id, summary=summary, method=method)


class SummaryWriter:
    """Writes the summaries of one call, with a language model if it is configured.

    A model that fails once is not used again in the same call, so that many entries do not each
    wait for it.
    """

    def __init__(self, call: Call) -> None:
        self._indexer = call.context.indexer
        self._model: ChatModel | None = None
        if call.settings.global_.summarizer.model is SummaryMethod.LLM:
            self._model = self._indexer.chat().model

    @property
    def method(self) -> Method:
        """Return the method of the next summary, if the model answers."""
        return "extractive" if self._model is None else "llm"

    def write(self, text: str) -> tuple[str, Method]:
        """Return a summary of a text, and its method."""
        if self._model is not None:
            try:
                return ChatSummarizer(self._model).summarize(text), "llm"
            except UnavailableError:
                self._model = None  # the reason is in the log, and `method` is in the answer
        return self.by_rule(text), "extractive"

    def by_rule(self, text: str) -> str:
        """Return the most representative sentences of a text."""
        from qms.models.extractive_summarizer import (
            ExtractiveSummarizer,  # numpy: after the port answers
        )

        return ExtractiveSummarizer(self._indexer.embedder()).summarize(text)
