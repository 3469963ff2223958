"""searchEntries: views and indexes in scope, the pipeline, and what is said of each result."""

from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from qms.codec.documents import instant_text
from qms.domain.entry import Document
from qms.domain.errors import UnavailableError
from qms.domain.flags import Flag, flags_of
from qms.domain.queries import Format, Include
from qms.index.documents import index_document
from qms.search.budget import fit
from qms.search.outcome import Mode, Skipped
from qms.search.query import SearchQuery
from qms.service.answers import Rendered, list_item
from qms.service.calls import Call
from qms.service.formats import EntryTable
from qms.service.requests import Request, Response
from qms.store.view import Record

if TYPE_CHECKING:
    from qms.search.pipeline import Found, Result
    from qms.search.sources import Source


class SearchRequest(Request, frozen=True):
    """What to look for, and how much of each result to answer with."""

    query: SearchQuery
    include: Include = Include.SUMMARY
    format: Format = Format.JSON


class Provenance(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Where a memory comes from: it is data, whoever wrote it."""

    project: str
    agent_id: str | None = None
    source: Any = None
    curation_tier: str = "provisional"
    created_utc: str
    exact: str | None = None


class ScoredEntry(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One result and why it is where it is."""

    entry: Any
    score: float
    scores: dict[str, float]
    snippet: str
    store: str
    provenance: Provenance
    flags: tuple[Flag, ...] = ()
    explanation: Any = None


class SearchAnswer(Response, frozen=True, kw_only=True):
    """The results, best first, and what the search worked with."""

    results: list[ScoredEntry]
    mode: Mode
    skipped: list[Skipped]
    omitted: int
    expanded: tuple[str, ...] | UnsetType = UNSET


class Shown(NamedTuple):
    """An answer, and the entries that are in it."""

    answer: SearchAnswer | Rendered
    records: list[Record]


def search_entries(call: Call, request: SearchRequest) -> SearchAnswer | Rendered:
    """Return what the project, and the shared store beside it, have for a query."""
    with call.house.library.precedence.first():
        return show(call.project, look(call, request.query), request).answer


def look(call: Call, query: SearchQuery) -> "Found":
    """Run a query on the stores in reach.

    Raises:
        InvalidInputError: names the field, and the limit if it is over one.
        UnavailableError: the indexes are still being made, or have to be.
    """
    from qms.search.pipeline import search  # numpy: after the port answers

    sources = _sources(call, query)
    try:
        return search(
            sources,
            query,
            models=call.house.library.models(),
            limits=call.settings.global_.limits,
            now=call.now,
        )
    except (Exception, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as panic:  # a native library gave up: what it read may be damaged
        raise _distrusted(call, sources, panic) from panic


def show(project: str, found: "Found", request: SearchRequest) -> Shown:
    """Return what was found in the form asked for, as far as the budget goes."""
    if request.format is Format.JSON:
        return _as_objects(found, request)
    return _as_rows(project, found, request)


def _sources(call: Call, query: SearchQuery) -> "list[Source]":
    library, with_superseded = call.house.library, query.include_superseded
    sources = [library.source(call.store, now=call.now, with_superseded=with_superseded)]
    shared = call.shared if query.include_shared else None
    if shared is not None:
        with suppress(UnavailableError):
            store = call.house.catalog.get(shared)
            sources.append(library.source(store, now=call.now, with_superseded=with_superseded))
    return sources


def _distrusted(call: Call, sources: "list[Source]", panic: BaseException) -> UnavailableError:
    for source in sources:
        call.house.library.distrust(source.project, f"a search failed ({type(panic).__name__})")
    return UnavailableError("the index may be damaged and is made anew: try again in a moment")


def _as_objects(found: "Found", request: SearchRequest) -> Shown:
    results = [(one.record, _scored(one, found, request.include)) for one in found.results]
    answer = SearchAnswer(
        results=[],
        mode=found.mode,
        skipped=found.skipped,
        omitted=len(results),
        expanded=found.expanded or UNSET,
    )
    kept, omitted = fit(
        results,
        request.query.max_tokens,
        lambda item: len(msgspec.json.encode(item[1])) + 1,
        spent_bytes=len(msgspec.json.encode(answer)),
    )
    scored = [one for _, one in kept]
    answer = msgspec.structs.replace(answer, results=scored, omitted=omitted)
    return Shown(answer, [record for record, _ in kept])


def _as_rows(project: str, found: "Found", request: SearchRequest) -> Shown:
    extra = ("score", "snippet", "flags") if request.format is Format.TOON else ("score", "flags")
    table = EntryTable(request.format, request.include, project, extra)
    rows = [(one.record, _row(table, one, found)) for one in found.results]
    head = {"mode": found.mode, "expanded": found.expanded}
    kept, omitted = fit(
        rows,
        request.query.max_tokens,
        lambda item: len(item[1].encode()) + 1,
        spent_bytes=table.size_of((), **head, omitted=len(rows)) + len(str(len(rows))),
    )
    rendered = table.rendered([row for _, row in kept], **head, omitted=omitted)
    return Shown(rendered, [record for record, _ in kept])


def _row(table: EntryTable, result: "Result", found: "Found") -> str:
    record = result.record
    return table.row(
        record,
        score=round(result.score, 3),
        snippet=_snippet(result, record.document(), found) if "snippet" in table.columns else "",
    )


def _scored(result: "Result", found: "Found", include: Include) -> ScoredEntry:
    document = result.record.document()
    return ScoredEntry(
        entry=list_item(result.record, include),
        score=round(result.score, 6),
        scores={name: round(value, 6) for name, value in result.scores.items()},
        snippet=_snippet(result, document, found),
        store=result.source.project,
        provenance=_provenance(result, document),
        flags=flags_of(result.record.line),
        explanation=result.explanation,
    )


def _provenance(result: "Result", document: Document) -> Provenance:
    header = result.record.header
    return Provenance(
        project=result.source.project,
        agent_id=header.agent_id,
        source=document.get("source"),
        curation_tier=header.curation_tier,
        created_utc=instant_text(header.timestamps.created_utc),
        exact=result.exact,
    )


def _snippet(result: "Result", document: Document, found: "Found") -> str:
    indexed = index_document(result.record.header, document)
    return result.source.keyword.snippet(found.question.keyword, indexed)
