"""Graph traversal over relations: pure functions that get an entry's edges from a callable.

A traversal is bounded by hops, nodes and edges; a hub with a million edges costs no more than the
last bound.
"""

from collections import deque
from collections.abc import Callable, Iterable
from itertools import islice

import msgspec

EDGES_PER_NODE = 50
"""How many edges a traversal reads per node that it may return."""

MAX_PATHS = 10
"""How many equally short paths are returned."""


class Edge(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """One relation, from the entry that carries it to its target."""

    source_id: str
    target_id: str
    type: str
    weight: float

    def other_end(self, node: str) -> str:
        """Return the end of this edge that is not `node`."""
        return self.target_id if self.source_id == node else self.source_id


EdgesOf = Callable[[str], Iterable[Edge]]
"""The edges of an entry, best first; both ends exist and may be shown."""


class Neighbourhood(msgspec.Struct, frozen=True):
    """The result of a traversal: nodes with their distance, in order, and the edges among them."""

    hops: dict[str, int]
    edges: list[Edge]


def walk(start: str, edges_of: EdgesOf, *, max_hops: int, max_nodes: int) -> Neighbourhood:
    """Return the nodes within `max_hops` of `start`, nearest first, and the edges among them."""
    hops = {start: 0}
    edges: dict[tuple[str, str, str], Edge] = {}
    waiting = deque([start])
    budget = max_nodes * EDGES_PER_NODE
    while waiting and budget > 0:
        node = waiting.popleft()
        for edge in islice(edges_of(node), budget):
            budget -= 1
            other = edge.other_end(node)
            if other not in hops and hops[node] < max_hops and len(hops) < max_nodes:
                hops[other] = hops[node] + 1
                waiting.append(other)
            if other in hops:
                edges[edge.source_id, edge.target_id, edge.type] = edge
    return Neighbourhood(hops, list(edges.values()))


def shortest_paths(
    start: str, goal: str, edges_of: EdgesOf, *, max_hops: int, max_nodes: int
) -> list[list[str]]:
    """Return the shortest paths from `start` to `goal`, at most `MAX_PATHS` of them."""
    if start == goal:
        return [[start]]
    came_from = _search(start, goal, edges_of, max_hops=max_hops, max_nodes=max_nodes)
    return list(islice(_unwound(goal, start, came_from), MAX_PATHS))


def _search(
    start: str, goal: str, edges_of: EdgesOf, *, max_hops: int, max_nodes: int
) -> dict[str, list[str]]:
    """Return, for every visited node, its predecessors one hop nearer to the start."""
    came_from: dict[str, list[str]] = {start: []}
    hops = {start: 0}
    waiting = deque([start])
    budget = max_nodes * EDGES_PER_NODE
    while waiting and budget > 0:
        node = waiting.popleft()
        if hops[node] == max_hops or (goal in hops and hops[node] >= hops[goal]):
            break
        for edge in islice(edges_of(node), budget):
            budget -= 1
            other = edge.other_end(node)
            if other not in hops:
                hops[other] = hops[node] + 1
                came_from[other] = [node]
                waiting.append(other)
            elif hops[other] == hops[node] + 1 and node not in came_from[other]:
                came_from[other].append(node)
    return came_from


def _unwound(node: str, start: str, came_from: dict[str, list[str]]) -> Iterable[list[str]]:
    if node == start:
        yield [start]
        return
    for nearer in came_from.get(node, ()):
        for path in _unwound(nearer, start, came_from):
            yield [*path, node]
