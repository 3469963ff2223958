"""searchEntries: views and indexes in scope, the pipeline, and what is said of each result."""

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec

from qms.domain.errors import UnavailableError
from qms.domain.queries import Include
from qms.index.documents import index_document
from qms.search.outcome import Mode, Skipped
from qms.search.query import SearchQuery
from qms.service.answers import list_item
from qms.service.calls import Call
from qms.service.listing import check_format
from qms.service.requests import Request, Response

if TYPE_CHECKING:
    from qms.search.pipeline import Found, Result
    from qms.search.sources import Source


class SearchRequest(Request, frozen=True):
    """What to look for, and how much of each result to answer with."""

    query: SearchQuery
    include: Include = Include.SUMMARY
    format: str = "json"


class Provenance(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """Where a memory comes from: it is data, whoever wrote it."""

    project: str
    agent_id: str | None = None
    curation_tier: str = "provisional"
    exact: str | None = None


class ScoredEntry(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One result and why it is where it is."""

    entry: Any
    score: float
    scores: dict[str, float]
    snippet: str
    store: str
    provenance: Provenance
    explanation: Any = None


class SearchAnswer(Response, frozen=True):
    """The results, best first, and what the search worked with."""

    results: list[ScoredEntry]
    mode: Mode
    skipped: list[Skipped]
    omitted: int


def search_entries(call: Call, request: SearchRequest) -> SearchAnswer:
    """Return what the project, and the shared store beside it, have for a query."""
    from qms.search.pipeline import search  # numpy: after the port answers

    check_format(request.format)
    shown: dict[str, ScoredEntry] = {}

    def size_of(result: "Result") -> int:
        shown[result.id] = _scored(result, request.include)
        return len(msgspec.json.encode(shown[result.id]))

    found = search(
        _sources(call, request.query),
        request.query,
        models=call.house.library.models(),
        limits=call.settings.global_.limits,
        now=call.now,
        size_of=size_of,
    )
    return SearchAnswer(
        results=[
            _with_snippet(shown.get(result.id) or _scored(result, request.include), result, found)
            for result in found.results
        ],
        mode=found.mode,
        skipped=found.skipped,
        omitted=found.omitted,
    )


def _sources(call: Call, query: SearchQuery) -> "list[Source]":
    library, with_superseded = call.house.library, query.include_superseded
    sources = [library.source(call.store, now=call.now, with_superseded=with_superseded)]
    shared = call.shared if query.include_shared else None
    if shared is not None:
        with suppress(UnavailableError):
            store = call.house.catalog.get(shared)
            sources.append(library.source(store, now=call.now, with_superseded=with_superseded))
    return sources


def _scored(result: "Result", include: Include) -> ScoredEntry:
    header = result.record.header
    return ScoredEntry(
        entry=list_item(result.record, include),
        score=round(result.score, 6),
        scores={name: round(value, 6) for name, value in result.scores.items()},
        snippet="",
        store=result.source.project,
        provenance=Provenance(
            project=result.source.project,
            agent_id=header.agent_id,
            curation_tier=header.curation_tier,
            exact=result.exact,
        ),
        explanation=result.explanation,
    )


def _with_snippet(scored: ScoredEntry, result: "Result", found: "Found") -> ScoredEntry:
    document = index_document(result.record.header, result.record.document())
    snippet = result.source.keyword.snippet(found.question.keyword, document)
    return msgspec.structs.replace(scored, snippet=snippet)
