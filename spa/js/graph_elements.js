// Selects the nodes and edges that the graph draws.

export const MOST_NODES = 300;

/** Return `{ nodes, edges, left }`: the nearest nodes, the wanted edges between them, the number of nodes left out. */
export function elementsOf({ nodes, edges }, { type = "", most = MOST_NODES } = {}) {
    const near = nodes.toSorted((one, other) => one.hops - other.hops).slice(0, most);
    const ids = new Set(near.map(({ id }) => id));
    const isWanted = (edge) => (!type || edge.type === type) && ids.has(edge.sourceId) && ids.has(edge.targetId);
    const wanted = edges.filter(isWanted);
    const touched = new Set(wanted.flatMap((edge) => [edge.sourceId, edge.targetId]));
    const shown = near.filter(({ id, hops }) => !type || hops === 0 || touched.has(id));
    return { nodes: shown, edges: wanted, left: nodes.length - near.length };
}

/** With more entries than this, those without links are left out of the first view. */
const FEW = 60;
const MOST_LINKED = 120;
const TONES = { note: 1, fact: 2, decision: 3, task: 4, procedure: 5, question: 6, codeSnippet: 7 };

/** Return the number of the colour of a kind. */
export function toneOf(kind) {
    return TONES[kind] ?? 8;
}

/** Return the kinds of nodes with their numbers, the most frequent first: `[[kind, number]]`. */
export function kindsIn(nodes) {
    const counted = new Map();
    nodes.forEach(({ kind }) => counted.set(kind, (counted.get(kind) ?? 0) + 1));
    return [...counted].sort(([, one], [, other]) => other - one);
}

/** Return how many edges touch each node: a map by id. */
export function degreesOf(edges) {
    const degrees = new Map();
    edges.forEach(({ sourceId, targetId }) => [sourceId, targetId].forEach(
        (id) => degrees.set(id, (degrees.get(id) ?? 0) + 1),
    ));
    return degrees;
}

/** Return the view of a large project: its most linked nodes; a small one is shown whole. */
export function mostLinked({ nodes, edges }, { few = FEW, most = MOST_LINKED } = {}) {
    if (nodes.length <= few) {
        return { nodes, edges };
    }
    const known = new Set(nodes.map(({ id }) => id));
    const inside = edges.filter(({ sourceId, targetId }) => known.has(sourceId) && known.has(targetId));
    const degrees = degreesOf(inside);
    const linked = nodes.filter(({ id }) => degrees.has(id))
        .sort((one, other) => degrees.get(other.id) - degrees.get(one.id)).slice(0, most);
    return linked.length > 0 ? { nodes: linked, edges: inside } : { nodes: nodes.slice(0, few), edges: [] };
}

/** Merge several graphs: each node from the first graph that has it, each edge once. */
export function joined(graphs) {
    const nodes = new Map();
    const edges = new Map();
    for (const graph of graphs) {
        graph.nodes.forEach((node) => nodes.has(node.id) || nodes.set(node.id, node));
        graph.edges.forEach((edge) => edges.set(JSON.stringify([edge.sourceId, edge.type, edge.targetId]), edge));
    }
    return { nodes: [...nodes.values()], edges: [...edges.values()] };
}

/** Return the types of relation that occur, in order. */
export function typesOf(edges) {
    return [...new Set(edges.map(({ type }) => type))].sort();
}
