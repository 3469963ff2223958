"""What a search asks for, and the limits of asking."""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import msgspec

from qms.codec.documents import over_limit
from qms.domain.errors import invalid
from qms.domain.limits import Limits
from qms.domain.queries import Filter
from qms.index.keyword_query import KeywordQuery, analyse, with_added
from qms.index.terms import words
from qms.search.profiles import PROFILES, Profile, ProfileName

if TYPE_CHECKING:
    from qms.index.arrays import FloatArray  # numpy: after the port answers

DEFAULT_RESULTS = 25


class Match(StrEnum):
    """Whether an entry may lack words of the query."""

    ANY = "any"
    ALL = "all"


class SearchQuery(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True
):
    """The query of a request, as it is written there."""

    text: str | None = None
    embedding: list[float] | None = None
    max_results: int = DEFAULT_RESULTS
    include_shared: bool = True
    match: Match = Match.ANY
    filter: Annotated[Filter | None, msgspec.Meta(description="As in listEntries")] = None
    profile: ProfileName = ProfileName.DEFAULT
    explain: bool = False
    expand: bool = True
    include_superseded: bool = False
    max_tokens: Annotated[int, msgspec.Meta(ge=1)] | None = None


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A query that is within every limit, its text taken apart."""

    text: str
    words: list[str]
    keyword: KeywordQuery
    vector: "FloatArray | None"
    """The query's vector, given or computed; None when there is nothing to compute it with."""
    limit: int
    wanted: Filter | None
    match_all: bool
    """Whether entries that lack a word are left out; without words none lacks one."""
    profile: Profile
    explain: bool
    include_superseded: bool
    now: datetime

    @property
    def is_blank(self) -> bool:
        """Say whether it asks for nothing but what the filter lets through."""
        return self.keyword.is_empty and self.vector is None


def check_query(query: SearchQuery, limits: Limits, *, text_field: str = "query.text") -> None:
    """Raise for a query beyond a limit, before anything is computed of it.

    `text_field` is what the request calls the text.

    Raises:
        InvalidInputError: names the field and its limit.
    """
    if query.max_results < 1:
        raise invalid("query.maxResults", f"{query.max_results} is below 1", minimum=1)
    if query.max_results > limits.results:
        raise over_limit("query.maxResults", query.max_results, limits.results, "results")
    text = query.text or ""
    size = len(text.encode(errors="surrogatepass"))
    if size > limits.query_bytes:
        raise over_limit(text_field, size, limits.query_bytes, "queryBytes")
    terms = len(set(words(text)))
    if terms > limits.query_terms:
        raise over_limit(text_field, terms, limits.query_terms, "queryTerms")


def make_question(
    query: SearchQuery,
    limits: Limits,
    *,
    vector: "FloatArray | None",
    now: datetime,
    added: Iterable[str] = (),
) -> Question:
    """Return a checked query with its text taken apart, and terms that were added to it."""
    text = query.text or ""
    match_all = query.match is Match.ALL
    keyword = analyse(text, match_all=match_all, max_words=limits.query_terms)
    return Question(
        text=text,
        words=words(text),
        keyword=with_added(keyword, added),
        vector=vector,
        limit=query.max_results,
        wanted=query.filter,
        match_all=match_all and not keyword.is_empty,
        profile=PROFILES[query.profile],
        explain=query.explain,
        include_superseded=query.include_superseded,
        now=now,
    )
