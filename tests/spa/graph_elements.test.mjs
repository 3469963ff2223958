import assert from "node:assert/strict";
import test from "node:test";

import { elementsOf, joined, typesOf } from "../../spa/js/graph_elements.js";

const node = (id, hops) => ({ id, hops, title: id });
const edge = (sourceId, targetId, type) => ({ sourceId, targetId, type });
const found = {
    nodes: [node("far", 2), node("start", 0), node("near", 1), node("cited", 1)],
    edges: [edge("start", "near", "ref"), edge("near", "far", "ref"), edge("start", "cited", "supersedes")],
};
const ids = (nodes) => nodes.map(({ id }) => id);

test("the nearest nodes are drawn when there are too many, and no edge leads nowhere", () => {
    const { nodes, edges, left } = elementsOf(found, { most: 3 });

    assert.deepEqual(ids(nodes), ["start", "near", "cited"]);
    assert.deepEqual(edges.map(({ targetId }) => targetId), ["near", "cited"]);
    assert.equal(left, 1);
});

test("a filter by relation keeps the start and what the relation touches", () => {
    const { nodes, edges } = elementsOf(found, { type: "supersedes" });

    assert.deepEqual(ids(nodes), ["start", "cited"]);
    assert.equal(edges.length, 1);
    assert.deepEqual(typesOf(found.edges), ["ref", "supersedes"]);
});

test("joined neighbourhoods have every node and edge once, as the first knows them", () => {
    const other = { nodes: [node("near", 0), node("new", 1)], edges: [edge("start", "near", "ref"), edge("new", "near", "ref")] };

    const { nodes, edges } = joined([found, other]);

    assert.deepEqual(ids(nodes), ["far", "start", "near", "cited", "new"]);
    assert.equal(nodes[2].hops, 1);
    assert.equal(edges.length, 4);
});
