"""recall: what the memory has for a context, and the use of it."""

from typing import TYPE_CHECKING, Annotated

import msgspec

from qms.domain.queries import Filter, Format, Include
from qms.index.documents import index_document
from qms.index.mentions import mentions
from qms.search.outcome import Mode
from qms.search.profiles import ProfileName
from qms.search.query import SearchQuery, check_query
from qms.service.answers import Rendered
from qms.service.calls import Call
from qms.service.formats import TokenBudget
from qms.service.requests import Request
from qms.service.searching import SearchAnswer, SearchRequest, look, show
from qms.service.touching import touch
from qms.store.view import Record

if TYPE_CHECKING:  # numpy: after the port answers
    from qms.search.pipeline import Found, Result

DEFAULT_LIMIT = 10
MAX_LIMIT = 50

LEAST_COSINE = 0.2
"""Sentences of different subjects mostly stay below 0.17, by the shipped model."""


class RecallRequest(Request, frozen=True):
    """What it is about, in plain words, and how much to answer with."""

    context: Annotated[str, msgspec.Meta(min_length=1)]
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_LIMIT)] = DEFAULT_LIMIT
    filter: Filter | None = None
    profile: ProfileName = ProfileName.DEFAULT
    include_shared: bool = True
    expand: bool = True
    touch: bool = True
    include: Include = Include.SUMMARY
    format: Format = Format.JSON
    max_tokens: TokenBudget | None = None


class RecallAnswer(SearchAnswer, frozen=True, kw_only=True):
    """The results, best first, and which of them count as used now."""

    touched: list[str]


def recall(call: Call, request: RecallRequest) -> RecallAnswer | Rendered:
    """Return what a context brings, and count as used what a word or the sense of it brought."""
    limits = call.settings.global_.limits
    query = SearchQuery(
        text=request.context,
        max_results=min(request.limit, limits.results),
        include_shared=request.include_shared,
        expand=request.expand,
        filter=request.filter,
        profile=request.profile,
        max_tokens=request.max_tokens,
    )
    check_query(query, limits, text_field="context")
    asked = SearchRequest(query=query, include=request.include, format=request.format)
    with call.house.library.precedence.first():
        found = look(call, query)
        shown = show(call.project, found, asked)
    used = _used(found, shown.records) if request.touch else []
    touch(call, used)
    if isinstance(shown.answer, Rendered):
        return shown.answer
    touched = [record.header.id for record in used]
    return RecallAnswer(**msgspec.structs.asdict(shown.answer), touched=touched)


def _used(found: "Found", shown: list[Record]) -> list[Record]:
    """Return what a word, the sense or the name of it brought, and not what only filled the answer.

    A small store answers with everything that it has: five questions about anything else would
    make all of it long-lived.
    """
    meant = {one.id for one in found.results if _is_meant(one, found)}
    return [record for record in shown if record.header.id in meant]


def _is_meant(result: "Result", found: "Found") -> bool:
    if result.exact is not None:
        return True
    if found.mode is Mode.HYBRID and result.scores.get("vector", 0.0) >= LEAST_COSINE:
        return True
    document = index_document(result.record.header, result.record.document())
    return mentions(found.question.keyword, document)
