// Graph: the entries linked with an entry or a tag.

import * as api from "../api.js";
import { elementsOf, joined, kindsIn, mostLinked, toneOf, typesOf } from "../graph_elements.js";
import { plural, words } from "../formatting.js";
import { useLoaded } from "../loading.js";
import { hrefOf, place, setQuery } from "../router.js";
import { html } from "../view.js";
import { GraphView } from "../parts/graph_view.js";
import { Card, PageHead, Select, TextFilter } from "../parts/pieces.js";
import { Empty, Loaded } from "../parts/states.js";

const HOPS = ["1", "2", "3"];
const NEWEST = 200;
const PAGES = 5;
const EXPANDED = 60;

export function Graph({ project }) {
    const { query } = place.value;
    const found = useLoaded(() => neighbourhood(project, query), [project, query.id, query.tag, query.hops]);
    return html`<${PageHead} title="Graph" about=${aboutOf(query)} />
    <div class="stack-sm">
        <div class="filters">
            ${query.id
                ? html`<${Select} isSmall label="Depth" value=${query.hops || "2"}
                    options=${HOPS.map((one) => [one, plural(Number(one), "hop")])}
                    onPick=${(hops) => setQuery({ hops })} />
                    <button class="btn btn-quiet btn-sm"
                        onClick=${() => setQuery({ id: "", hops: "" })}>Whole project</button>`
                : html`<${TextFilter} label="Tag" value=${query.tag}
                    onPick=${(tag) => setQuery({ tag }, { replace: true })} />`}
            ${found.data && html`<${Select} isSmall label="Relation" value=${query.type ?? ""}
                onPick=${(type) => setQuery({ type })}
                options=${[["", "All relations"], ...typesOf(found.data.edges).map((one) => [one, words(one)])]} />`}
        </div>
        <${Loaded} from=${found} what="Loading the graph">${(data) => html`<${Drawing} project=${project}
            query=${query} elements=${elementsOf(data, { type: query.type })} />`}</${Loaded}>
    </div>`;
}

function aboutOf(query) {
    if (query.id) {
        return "Entries linked with this one. Click an entry to open it.";
    }
    return query.tag
        ? `The newest entries tagged “${query.tag}” and the entries linked with them.`
        : "The most linked of the newest entries. Click an entry to open it, or its links to look around it.";
}

async function neighbourhood(project, { id, tag, hops }) {
    if (id) {
        return api.command(project, "relatedEntries", { id, maxHops: Number(hops || 2) });
    }
    const filter = tag ? { tags: [tag] } : undefined;
    const items = await newestEntries(project, filter, tag ? 1 : PAGES);
    const newest = {
        nodes: items.map((entry) => ({ ...entry, hops: 1 })),
        edges: items.flatMap((entry) => (entry.relations ?? []).map((one) => ({ sourceId: entry.id, ...one }))),
    };
    const expanded = tag ? items.slice(0, EXPANDED) : [];
    const found = joined([newest, ...await Promise.all(expanded.map(({ id: start }) => neighbours(project, start)))]);
    return tag ? found : { ...mostLinked(found), total: items.length };
}

async function newestEntries(project, filter, pages) {
    const found = [];
    let cursor;
    for (let page = 0; page < pages && cursor !== null; page += 1) {
        const request = { filter, include: "full", page: { size: NEWEST, cursor } };
        const answer = await api.command(project, "listEntries", request);
        found.push(...answer.items);
        cursor = answer.nextCursor;
    }
    return found;
}

function neighbours(project, id) {
    return api.command(project, "relatedEntries", { id, maxHops: 1 });
}

function Legend({ nodes }) {
    return html`<div class="chart-legend graph-legend" role="group" aria-label="Colours">
        ${kindsIn(nodes).map(([kind, number]) => html`<span key=${kind}><i class=${`kind-${toneOf(kind)}`}></i>
            ${words(kind)} ${number}</span>`)}</div>`;
}

function Drawing({ project, query, elements }) {
    const { nodes, edges, left } = elements;
    if (nodes.length === 0) {
        return html`<${Card} isFlush><${Empty} icon="diagram-3" title="No entries yet">
            <p>Entries and their links appear here.</p></${Empty}></${Card}>`;
    }
    const open = (id) => {
        location.hash = hrefOf("entries", [project], { id });
    };
    return html`<div class="graph-split">
        <${Card} isFlush><${Legend} nodes=${nodes} />
            <${GraphView} key=${JSON.stringify([query.id, query.tag, query.hops, query.type])}
            nodes=${nodes} edges=${edges} onOpen=${open} /></${Card}>
        <${Card} title=${plural(nodes.length, "entry", "entries")} isFlush>
            <div class="graph-list" tabindex="0" role="region" aria-label="Entries of the graph"><ul class="rows">
                ${nodes.map((node) => html`<li class="graph-item" key=${node.id}>
                <a href=${hrefOf("entries", [project], { id: node.id })}>${node.title}</a>
                <a class="small text-soft" href=${hrefOf("graph", [project], { id: node.id })}
                    aria-label=${`Show links of ${node.title}`}>Links</a>
            </li>`)}</ul></div>
            <p class="card-in small text-soft mb-0">
                ${plural(edges.length, "link")}.${left > 0
                    ? ` ${plural(left, "more entry is", "more entries are")} not shown.`
                    : ""}</p>
        </${Card}>
    </div>`;
}
