// The versions of an entry, with diff and restore.

import * as api from "../api.js";
import { projectOf } from "../formatting.js";
import { diffLines } from "../line_diff.js";
import { useLoaded } from "../loading.js";
import { html, useState } from "../view.js";
import { Diff } from "./diff.js";
import { Time } from "./pieces.js";
import { Loaded } from "./states.js";
import { complain, endOffers, say } from "./toasts.js";

export function EntryHistory({ entry, version, onChange }) {
    const project = projectOf(entry.id);
    const loaded = useLoaded(() => api.command(project, "history", { id: entry.id, full: true }), [entry.id, version]);
    return html`<${Loaded} from=${loaded} what="Loading versions">${({ items, omitted }) => html`<div class="stack-sm">
        <ul class="rows" aria-label="Versions">
            ${items.map((item, at) => html`<${Version} key=${item.version} item=${item} before=${items[at + 1]}
            isCurrent=${item.version === version} entry=${entry} onChange=${onChange} />`)}</ul>
        ${omitted > 0 && html`<p class="small text-soft mb-0">${omitted} older versions not shown.</p>`}
    </div>`}</${Loaded}>`;
}

function Version({ item, before, isCurrent, entry, onChange }) {
    const [isOpen, setOpen] = useState(false);
    const restore = async () => {
        endOffers(entry.id);
        try {
            await api.command(projectOf(entry.id), "restoreEntry", { id: entry.id, version: item.version });
            say("Version restored; the previous one stays in the history.");
            onChange();
        } catch (error) {
            complain(error);
        }
    };
    return html`<li class="version">
        <div class="d-flex gap-2 align-items-baseline flex-wrap">
            <strong class="flex-grow-1">
                <${Time} utc=${item.writtenUtc ?? item.entry?.timestamps?.updatedUtc} /></strong>
            ${isCurrent && html`<span class="chip good">current</span>`}
            ${item.reason && html`<span class="chip">${item.reason}</span>`}
            <button class="btn btn-bare btn-sm" aria-expanded=${isOpen}
                onClick=${() => setOpen(!isOpen)}>Changes</button>
            ${!isCurrent && html`<button class="btn btn-quiet btn-sm" onClick=${restore}>Restore</button>`}
        </div>
        <div class="small text-soft">
            ${[item.by && `by ${item.by}`, item.command, item.version].filter(Boolean).join(", ")}</div>
        ${isOpen && html`<${Diff} label="Changes"
            lines=${diffLines(before ? textOf(before) : "", textOf(item))} />`}
    </li>`;
}

function textOf({ entry }) {
    return JSON.stringify(entry, null, 2);
}
