// Where a document is referenced, and the repair of references to chunks that are gone.

import * as api from "../api.js";
import { plural, projectOf } from "../formatting.js";
import { useLoaded } from "../loading.js";
import { hrefOf } from "../router.js";
import { mayIn } from "../session.js";
import { html, useState } from "../view.js";
import { Loaded, Notice } from "./states.js";
import { complain, say } from "./toasts.js";

const SHOWN = 100;

export function DocumentRefs({ document, refs, onChange }) {
    const project = projectOf(document.id);
    const mayRepair = mayIn(project, "writer");
    const checked = useLoaded(() => (mayRepair
        ? api.command(project, "validateRefs", { documentId: document.id })
        : { broken: [] }), [document.id, refs]);
    if (refs.length === 0) {
        return html`<p class="text-soft mb-0">No memory refers to this document.</p>`;
    }
    return html`<${Loaded} from=${checked} what="Checking references">${({ broken }) => html`<div class="stack-sm">
        ${broken.length > 0 && html`<${Broken} project=${project} document=${document} broken=${broken}
            onChange=${onChange} />`}
        <${List} document=${document} refs=${refs} broken=${new Set(broken.map(({ chunkId }) => chunkId))} />
    </div>`}</${Loaded}>`;
}

function Broken({ project, document, broken, onChange }) {
    const [isBusy, setBusy] = useState(false);
    const movable = broken.filter(({ movedTo }) => movedTo).length;
    const repair = async () => {
        setBusy(true);
        try {
            const { repaired } = await api.command(project, "validateRefs", { documentId: document.id, repair: true });
            say(`${plural(repaired, "reference")} repaired.`);
            onChange();
        } catch (error) {
            complain(error);
        }
        setBusy(false);
    };
    return html`<${Notice} tone="warn" icon="exclamation-triangle">
        <p class="mb-1">${plural(broken.length, "reference leads", "references lead")} to a chunk that is gone.
            ${movable > 0 ? ` The text of ${movable} stands in another chunk now.` : ""}</p>
        ${movable > 0 && html`<button class="btn btn-quiet btn-sm" disabled=${isBusy} onClick=${repair}>
            Repair</button>`}
    </${Notice}>`;
}

function List({ document, refs, broken }) {
    const project = projectOf(document.id);
    const titles = useLoaded(() => titlesOf(project, refs.slice(0, SHOWN)), [refs]);
    return html`<ul class="rows" aria-label="References">
        ${refs.slice(0, SHOWN).map((ref, at) => html`<li class="d-flex gap-2 align-items-baseline py-1 flex-wrap"
            key=${`${ref.entryId} ${at}`}>
            <span class="chip flex-shrink-0">${ref.type}</span>
            <a class="flex-grow-1" href=${hrefOf("entries", [projectOf(ref.entryId)], { id: ref.entryId })}>
                ${titles.data?.get(ref.entryId) ?? ref.entryId}</a>
            ${ref.chunkId && (broken.has(ref.chunkId)
                ? html`<span class="chip warn">chunk gone</span>`
                : html`<a class="small" href=${hrefOf("documents", [project],
                    { id: document.id, show: "chunks", chunk: ref.chunkId })}>Show chunk</a>`)}
        </li>`)}
        ${refs.length > SHOWN && html`<li class="small text-soft">and ${refs.length - SHOWN} more</li>`}
    </ul>`;
}

async function titlesOf(project, refs) {
    const ids = [...new Set(refs.map(({ entryId }) => entryId))];
    const found = await Promise.all(ids.map((id) => api.command(project, "getEntry", { id }).catch(() => null)));
    return new Map(found.filter(Boolean).map(({ entry }) => [entry.id, entry.title]));
}
