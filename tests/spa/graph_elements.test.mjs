import assert from "node:assert/strict";
import test from "node:test";

import { elementsOf, joined, kindsIn, mostLinked, toneOf, typesOf } from "../../spa/js/graph_elements.js";

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

test("a large project shows its most linked entries, a small one all", () => {
    const nodes = Array.from({ length: 100 }, (_, at) => ({ id: `${at}` }));
    const edges = [["1", "2"], ["1", "3"], ["4", "5"], ["6", "elsewhere"]]
        .map(([sourceId, targetId]) => ({ sourceId, targetId, type: "ref" }));

    const view = mostLinked({ nodes, edges }, { most: 4 });

    assert.deepEqual(view.nodes.map(({ id }) => id), ["1", "2", "3", "4"]);
    assert.equal(view.edges.length, 3);
    assert.equal(mostLinked({ nodes: nodes.slice(0, 50), edges }).nodes.length, 50);
    assert.equal(mostLinked({ nodes, edges: [] }).nodes.length, 60);
});

test("kinds have a colour and are counted", () => {
    assert.deepEqual(kindsIn([{ kind: "fact" }, { kind: "note" }, { kind: "fact" }]), [["fact", 2], ["note", 1]]);
    assert.notEqual(toneOf("fact"), toneOf("note"));
    assert.equal(toneOf("unheard of"), toneOf("chunk"));
});
