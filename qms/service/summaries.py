"""summaries: what entries say, in a few sentences, and who says so."""

from typing import Any, Literal

import msgspec

from qms.codec.documents import over_limit
from qms.domain.bodies import main_text
from qms.domain.entry import split_id
from qms.domain.ports import Summarizer
from qms.service.calls import Call
from qms.service.requests import Request, Response
from qms.store.summaries import KeptSummary
from qms.store.view import Record

SHORT_CHARACTERS = 280
"""A text up to this length is its own summary."""


class SummariesRequest(Request, frozen=True):
    """Which entries."""

    ids: list[str]


class EntrySummary(msgspec.Struct, frozen=True, kw_only=True):
    """What an entry says, and who put it so."""

    id: str
    summary: str
    method: Literal["extractive", "llm", "given"]


class SummariesAnswer(Response, frozen=True):
    """The summaries, in the order of the ids."""

    summaries: list[EntrySummary]


def summaries(call: Call, request: SummariesRequest) -> SummariesAnswer:
    """Return a summary of each entry: its own, or one that is made and kept."""
    limit = call.settings.global_.limits.results
    if len(request.ids) > limit:
        raise over_limit("ids", len(request.ids), limit, "results")
    records = [call.find(given) for given in request.ids]
    return SummariesAnswer(summaries=[_summary(call, record) for record in records])


def _summary(call: Call, record: Record) -> EntrySummary:
    document = record.document()
    text = main_text(record.header.kind, document["body"])
    given = _given(document, text)
    if given is not None:
        return EntrySummary(id=record.header.id, summary=given, method="given")
    return _made(call, record, text)


def _given(document: dict[str, Any], text: str) -> str | None:
    """Return what the entry itself offers as its summary: a field of that name, or a short text."""
    for place in (document.get("metadata") or {}, document["body"]):
        found = place.get("summary")
        if isinstance(found, str) and found.strip() and found != text:
            return found.strip()
    return text.strip() if len(text) <= SHORT_CHARACTERS else None


def _made(call: Call, record: Record, text: str) -> EntrySummary:
    summarizer, entry_id = summarizer_for(call), record.header.id
    store = call.house.catalog.get(split_id(entry_id)[0])
    cache = call.house.library.summaries(store.project)
    version, method = record.version(), summarizer.method
    summary = cache.get(store.view, entry_id, version, method) if cache else None
    if summary is None:
        summary = summarizer.summarize(text)
        if cache is not None:
            cache.put(store.view, entry_id, KeptSummary(version, method, summary))
            call.house.library.wake()
    return EntrySummary(id=entry_id, summary=summary, method=method)


def summarizer_for(call: Call) -> Summarizer:
    """Return what sums up texts now; its `method` says how."""
    # Without a language model the rule serves, whatever the settings ask for; `method` says so.
    from qms.inference.summarizer import ExtractiveSummarizer  # numpy: after the port answers

    return ExtractiveSummarizer(call.house.library.embedder())
