// Graph: what an entry or a tag is linked with, near and far.

import * as api from "../api.js";
import { elementsOf, joined, typesOf } from "../graph_elements.js";
import { plural, words } from "../formatting.js";
import { useLoaded } from "../loading.js";
import { hrefOf, place, setQuery } from "../router.js";
import { html } from "../view.js";
import { GraphView } from "../parts/graph_view.js";
import { Card, PageHead, Select, TextFilter } from "../parts/pieces.js";
import { Empty, Loaded } from "../parts/states.js";

const HOPS = ["1", "2", "3"];
const NEWEST = 200;
const LOOKED_AROUND = 60;

export function Graph({ project }) {
    const { query } = place.value;
    const found = useLoaded(() => neighbourhood(project, query), [project, query.id, query.tag, query.hops]);
    return html`<${PageHead} title="Graph" about=${aboutOf(query)} />
    <div class="stack-sm">
        <div class="filters">
            ${query.id
                ? html`<${Select} isSmall label="How far" value=${query.hops || "2"}
                    options=${HOPS.map((one) => [one, plural(Number(one), "step")])}
                    onPick=${(hops) => setQuery({ hops })} />
                    <button class="btn btn-quiet btn-sm"
                        onClick=${() => setQuery({ id: "", hops: "" })}>All of the project</button>`
                : html`<${TextFilter} label="Only with the tag" value=${query.tag}
                    onPick=${(tag) => setQuery({ tag }, { replace: true })} />`}
            ${found.data && html`<${Select} isSmall label="Relation" value=${query.type ?? ""}
                onPick=${(type) => setQuery({ type })}
                options=${[["", "Every relation"], ...typesOf(found.data.edges).map((one) => [one, words(one)])]} />`}
        </div>
        <${Loaded} from=${found} what="Loading the graph">${(data) => html`<${Drawing} project=${project}
            query=${query} elements=${elementsOf(data, { type: query.type })} />`}</${Loaded}>
    </div>`;
}

function aboutOf(query) {
    if (query.id) {
        return "What this entry is linked with. Click an entry to open it.";
    }
    return query.tag
        ? `The newest entries tagged “${query.tag}”, and what they are linked with.`
        : "The newest entries, and how they are linked. Click one to open it.";
}

async function neighbourhood(project, { id, tag, hops }) {
    if (id) {
        return api.command(project, "relatedEntries", { id, maxHops: Number(hops || 2) });
    }
    const filter = tag ? { tags: [tag] } : undefined;
    const { items } = await api.command(project, "listEntries", { filter, include: "full", page: { size: NEWEST } });
    const newest = {
        nodes: items.map((entry) => ({ ...entry, hops: 1 })),
        edges: items.flatMap((entry) => (entry.relations ?? []).map((one) => ({ sourceId: entry.id, ...one }))),
    };
    const looked = tag ? items.slice(0, LOOKED_AROUND) : [];
    return joined([newest, ...await Promise.all(looked.map(({ id: start }) => around(project, start)))]);
}

function around(project, id) {
    return api.command(project, "relatedEntries", { id, maxHops: 1 });
}

function Drawing({ project, query, elements }) {
    const { nodes, edges, left } = elements;
    if (nodes.length === 0) {
        return html`<${Card} isFlush><${Empty} icon="diagram-3" title="Nothing to draw">
            <p>Entries appear here, with what links them.</p></${Empty}></${Card}>`;
    }
    const open = (id) => {
        location.hash = hrefOf("entries", [project], { id });
    };
    return html`<div class="graph-split">
        <${Card} isFlush><${GraphView} key=${JSON.stringify([query.id, query.tag, query.hops, query.type])}
            nodes=${nodes} edges=${edges} onOpen=${open} /></${Card}>
        <${Card} title=${plural(nodes.length, "entry", "entries")} isFlush>
            <div class="graph-list" tabindex="0" role="region" aria-label="Entries of the graph"><ul class="rows">
                ${nodes.map((node) => html`<li class="graph-item" key=${node.id}>
                <a href=${hrefOf("entries", [project], { id: node.id })}>${node.title}</a>
                <a class="small text-soft" href=${hrefOf("graph", [project], { id: node.id })}
                    aria-label=${`Look around ${node.title}`}>around</a>
            </li>`)}</ul></div>
            <p class="card-in small text-soft mb-0">
                ${plural(edges.length, "link")}.${left > 0
                    ? ` ${plural(left, "entry is", "entries are")} too far to be drawn.`
                    : ""}</p>
        </${Card}>
    </div>`;
}
