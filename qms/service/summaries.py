"""summaries: what entries say, in a few sentences, and who says so."""

from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from qms.codec.documents import over_limit
from qms.config.settings import SummaryMethod
from qms.domain.bodies import main_text
from qms.domain.entry import split_id
from qms.domain.errors import UnavailableError
from qms.domain.flags import Flag, flags_of
from qms.domain.ports import ChatModel
from qms.inference.chat_summarizer import ChatSummarizer
from qms.service.calls import Call
from qms.service.requests import Request, Response
from qms.store.summaries import KeptSummary
from qms.store.view import Record

Method = Literal["extractive", "llm"]

SHORT_CHARACTERS = 280
"""A text up to this length is its own summary."""


class SummariesRequest(Request, frozen=True):
    """Which entries."""

    ids: list[str]


class EntrySummary(msgspec.Struct, frozen=True, kw_only=True):
    """What an entry says, who put it so, and what to beware of in it."""

    id: str
    summary: str
    method: Literal["extractive", "llm", "given"]
    flags: tuple[Flag, ...] | UnsetType = UNSET


class SummariesAnswer(Response, frozen=True):
    """The summaries, in the order of the ids."""

    summaries: list[EntrySummary]


def summaries(call: Call, request: SummariesRequest) -> SummariesAnswer:
    """Return a summary of each entry: its own, or one that is made and kept."""
    limit = call.settings.global_.limits.results
    if len(request.ids) > limit:
        raise over_limit("ids", len(request.ids), limit, "results")
    records = [call.find(given) for given in request.ids]
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
    """Return what the entry itself offers as its summary: a field of that name, or a short text."""
    for place in (document.get("metadata") or {}, document["body"]):
        found = place.get("summary")
        if isinstance(found, str) and found.strip() and found != text:
            return found.strip()
    return text.strip() if len(text) <= SHORT_CHARACTERS else None


def _made(call: Call, record: Record, text: str, writer: "SummaryWriter") -> EntrySummary:
    entry_id = record.header.id
    store = call.house.catalog.get(split_id(entry_id)[0])
    cache = call.house.library.summaries(store.project)
    version = record.version()
    method = writer.method
    summary = cache.get(store.view, entry_id, version, method) if cache else None
    if summary is not None:
        return EntrySummary(id=entry_id, summary=summary, method=method)
    summary, method = writer.write(text)
    if cache is not None:
        cache.put(store.view, entry_id, KeptSummary(version, method, summary))
        call.house.library.wake()
    return EntrySummary(id=entry_id, summary=summary, method=method)


class SummaryWriter:
    """Writes the summaries of one call: by a language model where the settings ask for one.

    A model that fails once is not asked again in the same call, so that many entries do not wait
    for it one after the other.
    """

    def __init__(self, call: Call) -> None:
        self._library = call.house.library
        self._model: ChatModel | None = None
        if call.settings.global_.summarizer.model is SummaryMethod.LLM:
            self._model = self._library.chat().model

    @property
    def method(self) -> Method:
        """Return how the next summary is meant to be made."""
        return "extractive" if self._model is None else "llm"

    def write(self, text: str) -> tuple[str, Method]:
        """Return a summary of a text, and how it was made."""
        if self._model is not None:
            try:
                return ChatSummarizer(self._model).summarize(text), "llm"
            except UnavailableError:
                self._model = None  # the reason is in the log, and `method` says what served
        return self.by_rule(text), "extractive"

    def by_rule(self, text: str) -> str:
        """Return the sentences of a text that say most of it."""
        from qms.inference.summarizer import ExtractiveSummarizer  # numpy: after the port answers

        return ExtractiveSummarizer(self._library.embedder()).summarize(text)
