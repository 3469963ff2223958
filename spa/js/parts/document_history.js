// What changed from one version of a document to the next: its facts, and the chunks that came and went.

import * as api from "../api.js";
import { chunkPrefix, factsChanged } from "../documents.js";
import { plural, projectOf } from "../formatting.js";
import { useLoaded } from "../loading.js";
import { html, useState } from "../view.js";
import { Diff } from "./diff.js";
import { Time } from "./pieces.js";
import { Loaded } from "./states.js";

const MOST_TEXTS = 20;
const PAGE = 200;

export function DocumentHistory({ document }) {
    const project = projectOf(document.id);
    const loaded = useLoaded(() => api.command(project, "history", { id: document.id, full: true }),
        [document.id, document.version]);
    return html`<${Loaded} from=${loaded} what="Loading versions">${({ items, omitted }) => html`<div class="stack-sm">
        <ul class="rows" aria-label="Versions">
            ${items.map((item, at) => html`<${Version} key=${item.version} item=${item} before=${items[at + 1]}
            after=${items[at - 1]} isCurrent=${item.version === document.version} document=${document} />`)}</ul>
        ${omitted > 0 && html`<p class="small text-soft mb-0">${omitted} older versions not shown.</p>`}
    </div>`}</${Loaded}>`;
}

function Version({ item, before, after, isCurrent, document }) {
    const [isOpen, setOpen] = useState(false);
    return html`<li class="version">
        <div class="d-flex gap-2 align-items-baseline flex-wrap">
            <strong class="flex-grow-1">
                <${Time} utc=${item.writtenUtc ?? item.entry?.timestamps?.updatedUtc} /></strong>
            ${isCurrent && html`<span class="chip good">current</span>`}
            ${item.reason && html`<span class="chip">${item.reason}</span>`}
            <button class="btn btn-bare btn-sm" aria-expanded=${isOpen}
                onClick=${() => setOpen(!isOpen)}>Changes</button>
        </div>
        <div class="small text-soft">
            ${[item.by && `by ${item.by}`, item.command, item.version].filter(Boolean).join(", ")}</div>
        ${isOpen && html`<${Changes} item=${item} before=${before} after=${after} document=${document} />`}
    </li>`;
}

function Changes({ item, before, after, document }) {
    const facts = factsChanged(before?.entry, item.entry);
    const chunks = useLoaded(() => (before ? chunkChanges(document, item, after) : null), [item.version]);
    return html`<div class="stack-sm mt-2">
        ${facts.length > 0 && html`<dl class="facts">${facts.map(([name, old, young]) => html`
            <dt>${name}</dt><dd>${before && old ? `${old} → ` : ""}${young || "none"}</dd>`)}</dl>`}
        ${before && html`<${Loaded} from=${chunks} what="Comparing chunks">
            ${(found) => html`<${ChunkChanges} found=${found} />`}</${Loaded}>`}
        ${!before && html`<p class="small text-soft mb-0">The first version that is known.</p>`}
    </div>`;
}

function ChunkChanges({ found: { added, removed, unread } }) {
    const lines = [
        ...removed.flatMap((text) => text.trim().split("\n").map((line) => ({ mark: "-", text: line }))),
        ...added.flatMap((text) => text.trim().split("\n").map((line) => ({ mark: "+", text: line }))),
    ];
    return html`<p class="small text-soft mb-0">
            ${plural(added.length, "chunk")} added, ${plural(removed.length + unread, "chunk")} removed.
            ${unread > 0 ? ` The text of ${unread} is not shown.` : ""}</p>
        ${lines.length > 0 && html`<${Diff} label="Changes" lines=${lines} />`}`;
}

/** Return the texts of the chunks that a version brought, and of those that it retired. */
async function chunkChanges(document, item, after) {
    const project = projectOf(document.id);
    const from = item.writtenUtc;
    if (!from) {
        return { added: [], removed: [], unread: 0 };
    }
    const until = after?.writtenUtc ?? undefined;
    const [gone, born] = await Promise.all([
        all(project, "listArchive", { filter: { archivedAfter: from, archivedBefore: until } }),
        all(project, "listEntries", {
            filter: { kinds: ["chunk"], createdAfter: from, createdBefore: until }, include: "full",
        }),
    ]);
    const isOwn = ({ id }) => id.startsWith(chunkPrefix(document.id));
    const retired = gone.filter(isOwn).filter(({ kind }) => kind === "chunk");
    const read = await Promise.all(retired.slice(0, MOST_TEXTS).map(({ id }) => lastText(project, id)));
    return {
        added: born.filter(isOwn).map(({ body }) => body.text),
        removed: read.filter((text) => text !== null),
        unread: retired.length - read.filter((text) => text !== null).length,
    };
}

async function lastText(project, id) {
    try {
        const { items } = await api.command(project, "history", { id, full: true, limit: 1 });
        return items[0]?.entry?.body?.text ?? null;
    } catch {
        return null;
    }
}

async function all(project, name, request) {
    const found = [];
    let cursor;
    do {
        const part = await api.command(project, name, { ...request, page: { size: PAGE, cursor } });
        found.push(...part.items);
        cursor = part.nextCursor ?? undefined;
    } while (cursor);
    return found;
}
