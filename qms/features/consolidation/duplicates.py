"""findDuplicates: pairs of entries whose vectors are nearly equal."""

from itertools import islice
from typing import TYPE_CHECKING, Annotated

import msgspec

from qms.commands.answers import Rendered
from qms.commands.call import Call
from qms.commands.command import command
from qms.commands.formats import TokenBudget, longest
from qms.commands.requests import Request, Response
from qms.commands.rows import ItemTable
from qms.features.lists.list_entries import newest
from qms.memory.access import AccessTier
from qms.memory.filters import Filter, Format
from qms.store.view import Record

if TYPE_CHECKING:
    from qms.search.similarity import Alike

MAX_COMPARED = 20_000
"""Every entry is compared with every other, so at most this many, the last changed ones."""


class DuplicatesRequest(Request, frozen=True):
    """The entries to compare, the least similarity, and the number of pairs."""

    filter: Filter | None = None
    threshold: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.9
    max_pairs: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 50
    format: Format = Format.JSON
    max_tokens: TokenBudget | None = None


class DuplicatePair(Response, frozen=True):
    """Two entries and the cosine of their vectors, from -1 to 1."""

    a: str
    b: str
    score: float
    title_a: str
    title_b: str


class DuplicatesAnswer(Response, frozen=True):
    """The pairs, most similar first, the number of entries compared, and of pairs left out."""

    pairs: list[DuplicatePair]
    compared: int
    omitted: int


@command(
    tier=AccessTier.READER,
    toolset="lifecycle",
    help="Find pairs of entries that say nearly the same",
    example={"threshold": 0.95, "filter": {"kind": "fact"}},
    read_only=True,
    idempotent=True,
    searches=True,
)
def find_duplicates(call: Call, request: DuplicatesRequest) -> DuplicatesAnswer | Rendered:
    """Return the pairs of the project's entries with at least the requested similarity."""
    from qms.search.similarity import alike_pairs  # numpy: after the port answers

    latest = islice(newest(call, request.filter or Filter()), MAX_COMPARED)
    records = {record.header.id: record for record in latest}
    source = call.context.indexer.source(
        call.store, now=call.now, with_superseded=True, deadline=call.deadline
    )
    pairs = alike_pairs(
        source,
        list(records),
        request.threshold,
        most=request.max_pairs,
        deadline=call.deadline,
    )
    found, compared = [_pair(one, records) for one in pairs], len(records)
    table = ItemTable(request.format, call.project, DuplicatePair, name="pairs", ids=("a", "b"))

    def answer(count: int) -> DuplicatesAnswer | Rendered:
        shown, omitted = found[:count], len(found) - count
        if request.format is Format.JSON:
            return DuplicatesAnswer(pairs=shown, compared=compared, omitted=omitted)
        return table.rendered(shown, compared=compared, omitted=omitted)

    return longest(answer, len(found), request.max_tokens)


def _pair(one: "Alike", records: dict[str, Record]) -> DuplicatePair:
    return DuplicatePair(
        a=one.a,
        b=one.b,
        score=round(one.score, 6),
        title_a=records[one.a].header.title,
        title_b=records[one.b].header.title,
    )
