"""relatedEntries: what is linked to an entry, within the stores that the caller may see."""

from collections.abc import Iterator
from itertools import islice
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, UnsetType

from qms.codec.documents import over_limit
from qms.domain.queries import Format, Include
from qms.index.graph import Edge, shortest_paths, walk
from qms.service.answers import Rendered, Summary, summary_fields
from qms.service.calls import Call, living_in
from qms.service.formats import EntryTable, TokenBudget, longest, with_table
from qms.service.requests import Request, Response
from qms.store.view import Record, StoreView

Direction = Literal["out", "in", "both"]
Paths = list[list[str]] | UnsetType


class RelatedRequest(Request, frozen=True):
    """Where to start, how far to go, and along which relations."""

    id: str
    max_hops: Annotated[int, msgspec.Meta(ge=1)] = 2
    types: tuple[str, ...] | None = None
    direction: Direction = "both"
    to: str | None = None
    include_shared: bool = True
    format: Format = Format.JSON
    max_tokens: TokenBudget | None = None


class Node(Summary, frozen=True):
    """An entry and how many relations it is away from the start."""

    hops: int


class RelatedAnswer(Response, frozen=True):
    """The entries met, nearest first, the relations among them, and the paths asked for."""

    nodes: list[Node]
    edges: list[Edge]
    paths: Paths = UNSET


def related_entries(call: Call, request: RelatedRequest) -> RelatedAnswer | Rendered:
    """Return the neighbourhood of an entry, and the shortest paths to another."""
    limits = call.settings.global_.limits
    if request.max_hops > limits.hops:
        raise over_limit("maxHops", request.max_hops, limits.hops, "hops")
    start = call.find(request.id).header.id
    graph = _Graph(call, request)
    bounds = {"max_hops": request.max_hops, "max_nodes": limits.graph_nodes}
    found = walk(start, graph.edges_of, **bounds)
    paths: Paths = UNSET
    if request.to is not None:
        paths = shortest_paths(start, call.full_id(request.to), graph.edges_of, **bounds)

    def nearest(count: int) -> RelatedAnswer | Rendered:
        hops = dict(islice(found.hops.items(), count))
        edges = [one for one in found.edges if {one.source_id, one.target_id} <= hops.keys()]
        near = [(graph.records[entry_id], away) for entry_id, away in hops.items()]
        if request.format is Format.JSON:
            return _as_objects(near, edges, paths)
        table = EntryTable(request.format, Include.SUMMARY, call.project, ("hops",))
        return _as_rows(near, edges, paths, table)

    return longest(nearest, len(found.hops), request.max_tokens)


def _as_objects(near: list[tuple[Record, int]], edges: list[Edge], paths: Paths) -> RelatedAnswer:
    nodes = [Node(**summary_fields(record), hops=hops) for record, hops in near]
    return RelatedAnswer(nodes=nodes, edges=edges, paths=paths)


def _as_rows(
    near: list[tuple[Record, int]], edges: list[Edge], paths: Paths, table: EntryTable
) -> Rendered:
    rendered = table.rendered([table.row(record, hops=hops) for record, hops in near])
    if edges:
        rows = [
            (table.spelled(one.source_id), table.spelled(one.target_id), one.type, one.weight)
            for one in edges
        ]
        rendered = with_table(rendered, "edges", ("sourceId", "targetId", "type", "weight"), rows)
    if paths:
        ids = [(list(map(table.spelled, path)),) for path in paths]
        rendered = with_table(rendered, "paths", ("ids",), ids)
    return rendered


class _Graph:
    """The relations of the stores in reach; an end outside of them does not exist."""

    def __init__(self, call: Call, request: RelatedRequest) -> None:
        self._views = call.views(include_shared=request.include_shared)
        self._now = call.now
        self._types = None if request.types is None else frozenset(request.types)
        self._outgoing = request.direction in ("out", "both")
        self._incoming = request.direction in ("in", "both")
        self.records: dict[str, Record] = {}

    def edges_of(self, node: str) -> Iterator[Edge]:
        """Yield the edges of an entry whose other end may be shown, its own heaviest first.

        A walk that ends at its bounds has then followed what counts most.
        """
        if self._find(node) is None:
            return
        if self._outgoing:
            yield from sorted(self._edges_between(node, None), key=lambda edge: -edge.weight)
        if self._incoming:
            for view in self._views.values():
                yield from self._edges_into(node, view)

    def _edges_into(self, node: str, view: StoreView) -> Iterator[Edge]:
        for source in view.incoming.get(node, ()):
            yield from self._edges_between(source, node)

    def _edges_between(self, source: str, target: str | None) -> Iterator[Edge]:
        record = self._find(source)
        if record is None:
            return
        for relation in record.header.relations:
            if target is not None and relation.target_id != target:
                continue
            if self._types is not None and relation.type not in self._types:
                continue
            if self._find(relation.target_id) is not None:
                yield Edge(source, relation.target_id, relation.type, relation.weight)

    def _find(self, entry_id: str) -> Record | None:
        known = self.records.get(entry_id)
        if known is not None:
            return known
        record = living_in(self._views, entry_id, self._now)
        if record is not None:
            self.records[entry_id] = record
        return record
