from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from qms.index.graph import EDGES_PER_NODE, MAX_PATHS, Edge, shortest_paths, walk


class Graph:
    """Edges by their ends, counting how many were looked at."""

    def __init__(self, *pairs: tuple[str, str]) -> None:
        self.edges = [Edge(source, target, "ref", 1.0) for source, target in pairs]
        self.looked_at = 0

    def edges_of(self, node: str) -> Iterator[Edge]:
        for edge in self.edges:
            if node in (edge.source_id, edge.target_id):
                self.looked_at += 1
                yield edge


def test_nodes_come_nearest_first_with_their_distance() -> None:
    graph = Graph(("a", "b"), ("b", "c"), ("c", "d"), ("x", "a"))

    found = walk("a", graph.edges_of, max_hops=2, max_nodes=10)

    assert found.hops == {"a": 0, "b": 1, "x": 1, "c": 2}
    assert [(edge.source_id, edge.target_id) for edge in found.edges] == [
        ("a", "b"),
        ("x", "a"),
        ("b", "c"),
    ]


def test_a_cycle_is_walked_once() -> None:
    graph = Graph(("a", "b"), ("b", "c"), ("c", "a"))

    found = walk("a", graph.edges_of, max_hops=5, max_nodes=10)

    assert set(found.hops) == {"a", "b", "c"}
    assert len(found.edges) == 3


def test_relations_of_several_types_between_two_entries_are_all_edges() -> None:
    edges = [Edge("a", "b", "ref", 1.0), Edge("a", "b", "partOf", 0.5), Edge("b", "a", "ref", 1.0)]

    found = walk("a", lambda _node: edges, max_hops=1, max_nodes=10)

    assert found.edges == edges


def test_a_hub_is_cut_at_the_number_of_nodes_and_of_edges_looked_at() -> None:
    graph = Graph(*(("hub", f"n{number}") for number in range(2000)))

    found = walk("hub", graph.edges_of, max_hops=3, max_nodes=10)

    assert len(found.hops) == 10
    assert graph.looked_at <= 10 * EDGES_PER_NODE + 1
    assert all(edge.target_id in found.hops for edge in found.edges)


def test_the_shortest_paths_are_found_all_and_only_they() -> None:
    graph = Graph(
        ("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("a", "e"), ("e", "f"), ("f", "d")
    )

    paths = shortest_paths("a", "d", graph.edges_of, max_hops=5, max_nodes=10)

    assert paths == [["a", "b", "d"], ["a", "c", "d"]]


def test_no_path_is_longer_than_the_hops_allowed() -> None:
    graph = Graph(("a", "b"), ("b", "c"))

    assert shortest_paths("a", "c", graph.edges_of, max_hops=1, max_nodes=10) == []
    assert shortest_paths("a", "z", graph.edges_of, max_hops=5, max_nodes=10) == []
    assert shortest_paths("a", "a", graph.edges_of, max_hops=5, max_nodes=10) == [["a"]]


def test_equally_short_paths_are_capped() -> None:
    middles = [f"m{number}" for number in range(MAX_PATHS * 2)]
    graph = Graph(*(("a", middle) for middle in middles), *((middle, "z") for middle in middles))

    paths = shortest_paths("a", "z", graph.edges_of, max_hops=2, max_nodes=10)

    assert len(paths) == MAX_PATHS


Nodes = st.sampled_from("abcdefgh")


@given(pairs=st.lists(st.tuples(Nodes, Nodes).filter(lambda pair: pair[0] != pair[1])))
def test_paths_have_the_length_that_the_walk_says(pairs: list[tuple[str, str]]) -> None:
    graph = Graph(*pairs)
    found = walk("a", graph.edges_of, max_hops=8, max_nodes=100)

    for node in "abcdefgh":
        paths = shortest_paths("a", node, graph.edges_of, max_hops=8, max_nodes=100)
        assert {len(path) - 1 for path in paths} == (
            {found.hops[node]} if node in found.hops else set()
        )


def test_relations_between_the_farthest_nodes_are_edges_too() -> None:
    graph = Graph(("a", "b"), ("a", "c"), ("b", "c"), ("c", "d"))

    found = walk("a", graph.edges_of, max_hops=1, max_nodes=10)

    assert set(found.hops) == {"a", "b", "c"}
    assert ("b", "c") in {(edge.source_id, edge.target_id) for edge in found.edges}
    assert len(found.edges) == 3
