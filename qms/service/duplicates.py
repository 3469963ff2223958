"""findDuplicates: pairs of entries that say nearly the same, by their vectors."""

from itertools import islice
from typing import TYPE_CHECKING, Annotated

import msgspec

from qms.domain.queries import Filter, Format
from qms.service.answers import Rendered
from qms.service.calls import Call
from qms.service.formats import TokenBudget, longest
from qms.service.listing import newest
from qms.service.requests import Request, Response
from qms.service.tables import ItemTable
from qms.store.view import Record

if TYPE_CHECKING:
    from qms.search.likeness import Alike

MAX_COMPARED = 20_000
"""Every entry is compared with every other: beyond so many only the last changed are."""


class DuplicatesRequest(Request, frozen=True):
    """Among which entries, how much alike, and how many pairs."""

    filter: Filter | None = None
    threshold: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.9
    max_pairs: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 50
    format: Format = Format.JSON
    max_tokens: TokenBudget | None = None


class DuplicatePair(Response, frozen=True):
    """Two entries and how much alike their vectors are, from -1 to 1."""

    a: str
    b: str
    score: float
    title_a: str
    title_b: str


class DuplicatesAnswer(Response, frozen=True):
    """The pairs, most alike first, how many entries were compared, and what the budget left out."""

    pairs: list[DuplicatePair]
    compared: int
    omitted: int


def find_duplicates(call: Call, request: DuplicatesRequest) -> DuplicatesAnswer | Rendered:
    """Return the pairs of the project's entries that are at least so much alike."""
    from qms.search.likeness import alike_pairs  # numpy: after the port answers

    latest = islice(newest(call, request.filter or Filter()), MAX_COMPARED)
    records = {record.header.id: record for record in latest}
    source = call.house.library.source(call.store, now=call.now, with_superseded=True)
    pairs = alike_pairs(source, list(records), request.threshold, most=request.max_pairs)
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
