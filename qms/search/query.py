"""The search query: its request type, its limits, and its analysed form."""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import msgspec

from qms.index.words.query_plan import KeywordQuery, analyse, with_added
from qms.memory.errors import invalid
from qms.memory.filters import Filter
from qms.memory.json_schema import HIDDEN
from qms.memory.limits import Limits, limited_by
from qms.memory.validation import over_limit
from qms.search.profiles import PROFILES, Profile, ProfileName
from qms.text.terms import words

if TYPE_CHECKING:
    from qms.index.arrays import FloatArray  # numpy: after the port answers

DEFAULT_RESULTS = 25


class Match(StrEnum):
    """Whether an entry must contain any or all words of the query."""

    ANY = "any"
    ALL = "all"


class SearchQuery(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True
):
    """The query of a request."""

    text: str | None = None
    embedding: Annotated[list[float], limited_by("valueItems")] | None = None
    max_results: int = DEFAULT_RESULTS
    include_shared: bool = True
    match: Match = Match.ANY
    filter: Annotated[Filter | None, msgspec.Meta(description="As in listEntries")] = None
    profile: Annotated[ProfileName, HIDDEN] = ProfileName.DEFAULT
    explain: bool = False
    expand: Annotated[bool, HIDDEN] = True
    include_superseded: bool = False
    max_tokens: Annotated[int, msgspec.Meta(ge=1)] | None = None


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A query within all limits, with its text analysed."""

    text: str
    words: list[str]
    keyword: KeywordQuery
    vector: "FloatArray | None"
    """The query's vector, given or computed; None without a text or an embedder."""
    limit: int
    wanted: Filter | None
    match_all: bool
    """Whether entries that lack a word are left out; False for a query without words."""
    profile: Profile
    explain: bool
    include_superseded: bool
    now: datetime

    @property
    def is_blank(self) -> bool:
        """Say whether it has neither words nor a vector, only a filter."""
        return self.keyword.is_empty and self.vector is None


def check_query(query: SearchQuery, limits: Limits, *, text_field: str = "query.text") -> None:
    """Raise for a query beyond a limit, before anything is computed from it.

    `text_field` is the name of the text in the request.

    Raises:
        InvalidInputError: names the field and its limit.
    """
    if query.max_results < 1:
        raise invalid("query.maxResults", f"{query.max_results} is below 1", minimum=1)
    if query.max_results > limits.results:
        raise over_limit("query.maxResults", query.max_results, limits.results, "results")
    text = query.text or ""
    check_query_bytes(text, limits, text_field)
    terms = len(set(words(text)))
    if terms > limits.query_terms:
        raise over_limit(text_field, terms, limits.query_terms, "queryTerms")


def check_query_bytes(text: str, limits: Limits, field: str) -> None:
    """Raise `InvalidInputError` for a text that is longer than a query may be."""
    size = len(text.encode(errors="surrogatepass"))
    if size > limits.query_bytes:
        raise over_limit(field, size, limits.query_bytes, "queryBytes")


def make_question(
    query: SearchQuery,
    limits: Limits,
    *,
    vector: "FloatArray | None",
    now: datetime,
    added: Iterable[str] = (),
) -> Question:
    """Analyse a checked query, together with its expansion terms."""
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
