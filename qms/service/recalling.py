"""recall: what the memory has for a context, and the use of it."""

from typing import Annotated

import msgspec

from qms.domain.queries import Filter, Format, Include
from qms.search.profiles import ProfileName
from qms.search.query import SearchQuery, check_query
from qms.service.answers import Rendered
from qms.service.calls import Call
from qms.service.formats import TokenBudget
from qms.service.requests import Request
from qms.service.searching import SearchAnswer, SearchRequest, look, show
from qms.service.touching import touch

DEFAULT_LIMIT = 10
MAX_LIMIT = 50


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
    """Return what any word or the sense of a context brings, and count it as used."""
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
        shown = show(call.project, look(call, query), asked)
    if request.touch:
        touch(call, shown.records)
    if isinstance(shown.answer, Rendered):
        return shown.answer
    touched = [record.header.id for record in shown.records] if request.touch else []
    return RecallAnswer(**msgspec.structs.asdict(shown.answer), touched=touched)
