// Documents: upload files, list and search them, and open one beside the list.

import * as api from "../api.js";
import { headingOf, pageOf } from "../documents.js";
import { markedPieces, plural } from "../formatting.js";
import { useKeys } from "../keys.js";
import { useLoaded } from "../loading.js";
import { hrefOf, place, setQuery } from "../router.js";
import { mayIn } from "../session.js";
import { storedCount } from "../uploads.js";
import { html } from "../view.js";
import { DocumentPanel } from "../parts/document_panel.js";
import { DocumentUpload, documentLine } from "../parts/document_upload.js";
import { Icon } from "../parts/icon.js";
import { Pager, useFreshStart } from "../parts/pager.js";
import { Card, CurationChip, PageHead, TextFilter, Time } from "../parts/pieces.js";
import { Empty, Loaded } from "../parts/states.js";

const PAGE_SIZE = 50;
const MOST_RESULTS = 30;
const ONLY = { kinds: ["document"] };

export function Documents({ project }) {
    const { query } = place.value;
    const stored = storedCount.value;
    const page = useLoaded(() => api.command(project, "listEntries", {
        filter: ONLY, include: "full", page: { size: PAGE_SIZE, cursor: query.cursor || undefined },
    }), [project, query.cursor, stored]);
    const total = useLoaded(() => api.command(project, "stats", { filter: ONLY }), [project, stored]);
    useFreshStart(page.error);
    const changed = () => {
        page.reload();
        total.reload();
    };
    useListKeys();
    return html`<${PageHead} title="Documents" about=${aboutOf(total.data)} />
    <div class=${`split ${query.id ? "open" : ""}`}>
        <div class="split-list stack-sm">
            ${mayIn(project, "writer") && html`<${DocumentUpload} key=${project} project=${project} />`}
            <div class="search-box" role="search"><${Icon} name="search" /><${TextFilter} label="Search in documents"
                value=${query.q} onPick=${search} /></div>
            <${Card} isFlush>${query.q
                ? html`<${Found} key=${project} project=${project} text=${query.q} stored=${stored} />`
                : html`<${Loaded} from=${page} what="Loading documents">${({ items, nextCursor }) => (items.length === 0
                    ? html`<${Nothing} mayWrite=${mayIn(project, "writer")} />`
                    : html`<div class="fades" aria-busy=${page.isLoading}>
                        <ul class="rows" aria-label="Documents">${items.map((entry) => html`<${Row} key=${entry.id}
                            entry=${entry} project=${project} isCurrent=${entry.id === query.id} />`)}</ul>
                        <${Pager} cursor=${query.cursor} page=${query.page} next=${nextCursor} shown=${items.length}
                            size=${PAGE_SIZE} total=${total.data?.entries}
                            go=${(turn) => setQuery({ ...turn, id: "", chunk: "" })} />
                    </div>`)}</${Loaded}>`}</${Card}>
        </div>
        ${query.id && html`<${DocumentPanel} key=${query.id} project=${project} id=${query.id}
            stored=${stored} onChange=${changed} />`}
    </div>`;
}

function search(q) {
    setQuery({ q, id: "", chunk: "", cursor: "", page: "" }, { replace: true });
}

function aboutOf(total) {
    return total ? `${plural(total.entries, "document")}, found by their sentences.`
        : "Files that agents find by their sentences.";
}

function Nothing({ mayWrite }) {
    return html`<${Empty} icon="file-earmark-text" title="No documents yet">
        <p>${mayWrite ? "Drop a file above, or use memoryctl documents sync for a folder."
            : "Documents appear here when a writer stores them."}</p>
    </${Empty}>`;
}

function Row({ entry, project, isCurrent }) {
    const { id: _id, chunk: _chunk, show: _show, ...kept } = place.value.query;
    const path = entry.metadata?.path ?? entry.body.path;
    return html`<li class=${`row-item ${isCurrent ? "current" : ""}`} data-id=${entry.id}>
        <span><${Icon} name="file-earmark-text" /></span>
        <div>
            <a class="row-title" data-document href=${hrefOf("documents", [project], { ...kept, id: entry.id })}>
                ${entry.title}</a>
            <div class="row-sub one-line">${entry.body.text}</div>
            <div class="row-meta"><span>${documentLine({ mime: entry.body.mime, metadata: entry.metadata })}</span>
                ${path && path !== entry.title && html`<code>${path}</code>`}
                ${(entry.tags ?? []).map((tag) => html`<span class="chip" key=${tag}>${tag}</span>`)}</div>
        </div>
        <div class="row-side"><${CurationChip} tier=${entry.curationTier} />
            <${Time} utc=${entry.timestamps.updatedUtc} /></div>
    </li>`;
}

/** The chunks that a search finds, with the page and heading of each. */
function Found({ project, text, stored }) {
    const found = useLoaded(() => api.command(project, "searchEntries", {
        query: { text, maxResults: MOST_RESULTS, filter: { kinds: ["chunk"] } },
    }), [text, stored]);
    return html`<${Loaded} from=${found} what="Searching">${({ results }) => (results.length === 0
        ? html`<${Empty} icon="search" title="No results"><p>Try other words.</p></${Empty}>`
        : html`<ul class="rows fades" aria-label="Results" aria-busy=${found.isLoading}>
            ${results.map((one) => html`<${Result} key=${one.entry.id} result=${one} project=${project} />`)}
        </ul>`)}</${Loaded}>`;
}

function Result({ result, project }) {
    const { entry, snippet = "" } = result;
    const { query } = place.value;
    const { last, above } = headingOf(result);
    const title = entry.title.split(" > ")[0];
    return html`<li class=${`row-item ${entry.id === query.chunk ? "current" : ""}`} data-id=${entry.id}>
        <span><${Icon} name="search" /></span>
        <div>
            <a class="row-title" data-document href=${hrefOf("documents", [project],
                { q: query.q, id: entry.id, chunk: entry.id, show: "chunks" })}>${title}</a>
            <div class="row-sub">${markedPieces(snippet).map(
                ({ text, isMarked }) => (isMarked ? html`<mark>${text}</mark>` : text),
            )}</div>
            <div class="row-meta">
                ${result.page !== undefined && html`<span class="chip">${pageOf(result)}</span>`}
                ${last && html`<span>${[above, last].filter(Boolean).join(" › ")}</span>`}</div>
        </div>
    </li>`;
}

function useListKeys() {
    const move = (step) => {
        const links = [...document.querySelectorAll("[data-document]")];
        const at = links.indexOf(document.activeElement);
        links[Math.max(0, Math.min(links.length - 1, at + step))]?.focus();
    };
    useKeys("List", {
        j: { does: "Next document", run: () => move(1) },
        k: { does: "Previous document", run: () => move(-1) },
    });
}
