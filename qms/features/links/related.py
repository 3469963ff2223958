"""relatedEntries: walks the relation graph from an entry, in the stores that the caller may see."""

from collections.abc import Iterator
from itertools import islice
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, UnsetType

from qms.commands.answers import Rendered, Summary, summary_fields
from qms.commands.call import Call, living_in
from qms.commands.command import EXAMPLE_ID, command
from qms.commands.formats import EntryTable, TokenBudget, longest, with_table
from qms.commands.requests import Request, Response
from qms.commands.visible import Visible
from qms.index.graph import Edge, shortest_paths, walk
from qms.memory.access import AccessTier
from qms.memory.filters import Format, Include
from qms.memory.json_schema import HIDDEN
from qms.memory.validation import over_limit
from qms.store.view import Record, StoreView

Direction = Literal["out", "in", "both"]
Paths = list[list[str]] | UnsetType


class RelatedRequest(Request, frozen=True):
    """The start, the number of hops, and the relations to follow."""

    id: str
    max_hops: Annotated[int, msgspec.Meta(ge=1)] = 2
    types: frozenset[str] | None = None
    direction: Direction = "both"
    to: str | None = None
    include_shared: Annotated[bool, HIDDEN] = True
    format: Annotated[Format, HIDDEN] = Format.JSON
    max_tokens: Annotated[TokenBudget | None, HIDDEN] = None


class Node(Summary, frozen=True):
    """An entry and its distance from the start."""

    hops: int


class RelatedAnswer(Response, frozen=True):
    """The entries found, nearest first, their relations, and the requested paths."""

    nodes: list[Node]
    edges: list[Edge]
    paths: Paths = UNSET


@command(
    tier=AccessTier.READER,
    toolset="core",
    help="Walk the relations of an entry, or find shortest paths. Use it to see what belongs to it",
    example={"id": EXAMPLE_ID, "maxHops": 2, "types": ["ref", "partOf"]},
    read_only=True,
    idempotent=True,
    brief=True,
)
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
        near = [(call.visible(graph.records[one]), away) for one, away in hops.items()]
        if request.format is Format.JSON:
            return _as_objects(near, edges, paths)
        table = EntryTable(request.format, Include.SUMMARY, call.project, ("hops",))
        return _as_rows(near, edges, paths, table)

    return longest(nearest, len(found.hops), request.max_tokens)


def _as_objects(near: list[tuple[Visible, int]], edges: list[Edge], paths: Paths) -> RelatedAnswer:
    nodes = [Node(**summary_fields(record), hops=hops) for record, hops in near]
    return RelatedAnswer(nodes=nodes, edges=edges, paths=paths)


def _as_rows(
    near: list[tuple[Visible, int]], edges: list[Edge], paths: Paths, table: EntryTable
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
    """The relations of the stores in reach; an entry outside of them counts as absent."""

    def __init__(self, call: Call, request: RelatedRequest) -> None:
        self._views = call.views(include_shared=request.include_shared)
        self._now = call.now
        self._deadline = call.deadline
        self._types = request.types
        self._outgoing = request.direction in ("out", "both")
        self._incoming = request.direction in ("in", "both")
        self.records: dict[str, Record] = {}

    def edges_of(self, node: str) -> Iterator[Edge]:
        """Yield the visible edges of an entry, its own heaviest first.

        A walk that ends at its bounds has then followed the most important edges.
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
        self._deadline.check()  # for each entry: it has up to a thousand relations
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
