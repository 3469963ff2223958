"""searchEntries: run the search pipeline on the stores in scope and write the answer."""

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from qms.commands.answers import Rendered, list_item, summary_fields
from qms.commands.call import Call
from qms.commands.command import command
from qms.commands.formats import EntryTable
from qms.commands.requests import Request, Response
from qms.commands.visible import Visible
from qms.index.indexed_entry import indexed_text
from qms.index.words.snippets import snippet
from qms.memory.access import AccessTier
from qms.memory.bodies import Kind
from qms.memory.entry import Document
from qms.memory.errors import UnavailableError
from qms.memory.filters import Format, Include
from qms.memory.validation import instant_text
from qms.search.budget import fit
from qms.search.outcome import Mode, Skipped
from qms.search.query import SearchQuery, check_query
from qms.store.options import VectorStatus
from qms.store.view import Record
from qms.telemetry.series import RECALLED_IDS, Recall
from qms.text.flags import Flag, flags_of

if TYPE_CHECKING:
    from qms.index.sources import Source
    from qms.search.pipeline import Found, Result


T = TypeVar("T")


class SearchRequest(Request, frozen=True):
    """The query, and how much of each result to return."""

    query: SearchQuery
    include: Include = Include.SUMMARY
    format: Format = Format.JSON


class Provenance(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The origin of a memory, so that the client treats it as data."""

    project: str
    agent_id: str | None = None
    source: Any = None
    curation_tier: str = "provisional"
    created_utc: str
    exact: str | None = None


class FoundEntry(Response, frozen=True, kw_only=True, omit_defaults=True):
    """The summary of a result; only a pinned one says so."""

    id: str
    kind: str
    title: str
    tags: tuple[str, ...]
    curation_tier: str
    pinned: bool = False
    updated_utc: str


class ScoredEntry(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One result; a query with `explain` also gets its scores, their explanation and its origin."""

    entry: Any
    score: float
    snippet: str
    store: str
    flags: tuple[Flag, ...] = ()
    page: int | UnsetType = UNSET
    """The page of a chunk in its document."""
    heading: str | UnsetType = UNSET
    """The headings above a chunk."""
    scores: dict[str, float] | UnsetType = UNSET
    provenance: Provenance | UnsetType = UNSET
    explanation: Any = None


class SearchAnswer(Response, frozen=True, kw_only=True):
    """The results, best first, with the search mode and the stages that were skipped."""

    results: list[ScoredEntry]
    mode: Mode
    skipped: list[Skipped]
    omitted: int
    expanded: tuple[str, ...] | UnsetType = UNSET
    vectors: VectorStatus | UnsetType = UNSET
    """The number of entries with vectors in the searched stores, while some have none."""


class Shown(NamedTuple):
    """An answer, and the entries in it."""

    answer: SearchAnswer | Rendered
    records: list[Record]


@command(
    tier=AccessTier.READER,
    toolset="core",
    help="Find entries by words and meaning. Use it for filters and scores; else recall",
    example={"query": {"text": "when does the index get rebuilt", "maxResults": 5}},
    read_only=True,
    idempotent=True,
    searches=True,
    brief=True,
)
def search_entries(call: Call, request: SearchRequest) -> SearchAnswer | Rendered:
    """Return the results of a query on the project's store and the shared one."""
    with call.context.indexer.priority.first():
        shown = show(call, look(call, request.query), request)
    note_recall(call, shown.records)
    return shown.answer


def note_recall(call: Call, records: list[Record]) -> None:
    """Keep for the recent activity which entries the caller got; answers without any are not."""
    ids = tuple(record.header.id for record in records[:RECALLED_IDS])
    if ids:
        caller = call.caller
        recall = Recall(
            at_utc=call.now,
            project=call.project,
            user=caller.user,
            agent_id=caller.agent_id,
            command=call.command,
            ids=ids,
        )
        call.context.series.note_recall(recall)


def look(call: Call, query: SearchQuery, *, text_field: str = "query.text") -> "Found":
    """Run a query on the stores in reach; `text_field` is the name of its text in errors.

    Raises:
        InvalidInputError: names the field, and the limit if it is over one.
        UnavailableError: the indexes are not built yet, or are being rebuilt.
    """
    from qms.search.pipeline import search  # numpy: after the port answers

    # Checked first: below, a search waits for its stores and their indexes.
    check_query(query, call.settings.global_.limits, text_field=text_field)
    sources = _sources(call, query)
    if query.filter is not None:
        wanted = call.visibility.shown_filter(query.filter)
        query = msgspec.structs.replace(query, filter=wanted)
    call.deadline.check()
    try:
        return search(
            sources,
            query,
            models=call.context.indexer.models(),
            limits=call.settings.global_.limits,
            now=call.now,
            deadline=call.deadline,
        )
    except (Exception, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as panic:  # a native library panicked: its files may be damaged
        raise _distrusted(call, sources, panic) from panic


def show(call: Call, found: "Found", request: SearchRequest) -> Shown:
    """Return the results in the requested format, within the token budget."""
    results = [(one, call.visible(one.record)) for one in found.results]
    if request.format is Format.JSON:
        return _as_objects(results, found, request)
    return _as_rows(call.project, results, found, request)


def _sources(call: Call, query: SearchQuery) -> "list[Source]":
    source = partial(
        call.context.indexer.source,
        now=call.now,
        with_superseded=query.include_superseded,
        deadline=call.deadline,
    )
    sources = [source(call.store)]
    shared = call.shared if query.include_shared else None
    if shared is not None:
        with suppress(UnavailableError):
            sources.append(source(call.store_of(shared)))
    return sources


def _distrusted(call: Call, sources: "list[Source]", panic: BaseException) -> UnavailableError:
    for source in sources:
        call.context.indexer.distrust(source.project, f"a search failed ({type(panic).__name__})")
    return UnavailableError("the index may be damaged and is rebuilt: try again in a moment")


def _as_objects(
    visible: "list[tuple[Result, Visible]]", found: "Found", request: SearchRequest
) -> Shown:
    results = [(record, _scored(one, record, found, request.include)) for one, record in visible]
    answer = SearchAnswer(
        results=[],
        mode=found.mode,
        skipped=found.skipped,
        omitted=len(results),
        expanded=found.expanded or UNSET,
        vectors=found.vectors or UNSET,
    )
    most = request.query.max_tokens
    kept, omitted = fit(
        results,
        most,
        lambda item: len(msgspec.json.encode(item[1])) + 1,
        spent_bytes=0 if most is None else len(msgspec.json.encode(answer)),
    )
    scored = [one for _, one in kept]
    answer = msgspec.structs.replace(answer, results=scored, omitted=omitted)
    return Shown(answer, [record for record, _ in kept])


def _as_rows(
    project: str,
    visible: "list[tuple[Result, Visible]]",
    found: "Found",
    request: SearchRequest,
) -> Shown:
    has_snippet = request.format is Format.TOON or request.include is Include.SNIPPET
    extra = ("score", "snippet", "flags") if has_snippet else ("score", "flags")
    table = EntryTable(request.format, request.include, project, extra)
    rows = [(record, _row(table, one, record, found)) for one, record in visible]
    vectors = f"{found.vectors.done}/{found.vectors.total}" if found.vectors else None
    head = {"mode": found.mode, "expanded": found.expanded, "vectors": vectors}
    kept, omitted = fit(
        rows,
        request.query.max_tokens,
        lambda item: len(item[1].encode()) + 1,
        spent_bytes=table.size_of((), **head, omitted=len(rows)) + len(str(len(rows))),
    )
    rendered = table.rendered([row for _, row in kept], **head, omitted=omitted)
    return Shown(rendered, [record for record, _ in kept])


def _row(table: EntryTable, result: "Result", record: Visible, found: "Found") -> str:
    return table.row(
        record,
        score=round(result.score, 3),
        snippet=snippet_of(result, record.document(), found) if "snippet" in table.columns else "",
    )


def _scored(result: "Result", record: Visible, found: "Found", include: Include) -> ScoredEntry:
    document, is_explained = record.document(), found.question.explain
    return ScoredEntry(
        entry=_entry(record, include),
        score=round(result.score, 6),
        snippet=snippet_of(result, document, found),
        store=result.source.project,
        flags=flags_of(record.line),
        page=_of_chunk(result, document, "page", int),
        heading=_of_chunk(result, document, "heading", str),
        scores=_rounded(result.scores) if is_explained else UNSET,
        provenance=_provenance(result, document) if is_explained else UNSET,
        explanation=result.explanation,
    )


def _entry(record: Visible, include: Include) -> Any:
    """Return as much of an entry as is asked for; every result has a snippet of its own."""
    if include in (Include.SUMMARY, Include.SNIPPET):
        return FoundEntry(**summary_fields(record))
    return list_item(record, include)


def _of_chunk(result: "Result", document: Document, key: str, kind: type[T]) -> T | UnsetType:
    """Return a value of a chunk's metadata, if the result is one and has it."""
    if result.record.header.kind is not Kind.CHUNK:
        return UNSET
    value = document.get("metadata", {}).get(key)
    return value if isinstance(value, kind) else UNSET


def _rounded(scores: dict[str, float]) -> dict[str, float]:
    return {name: round(value, 6) for name, value in scores.items()}


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


def snippet_of(result: "Result", document: Document, found: "Found") -> str:
    """Return the part of an entry's text that matches best."""
    text = indexed_text(result.record.header.kind, document["body"])
    return snippet(found.question.keyword, text)
