// The neighbourhood of entries as the graph draws it.

export const MOST_NODES = 300;

/** Return `{ nodes, edges, left }`: the nearest nodes, the wanted edges among them, how many are left out. */
export function elementsOf({ nodes, edges }, { type = "", most = MOST_NODES } = {}) {
    const near = nodes.toSorted((one, other) => one.hops - other.hops).slice(0, most);
    const ids = new Set(near.map(({ id }) => id));
    const isWanted = (edge) => (!type || edge.type === type) && ids.has(edge.sourceId) && ids.has(edge.targetId);
    const wanted = edges.filter(isWanted);
    const touched = new Set(wanted.flatMap((edge) => [edge.sourceId, edge.targetId]));
    const shown = near.filter(({ id, hops }) => !type || hops === 0 || touched.has(id));
    return { nodes: shown, edges: wanted, left: nodes.length - near.length };
}

/** Return several neighbourhoods as one: each node as the first has it that knows it, each edge once. */
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
