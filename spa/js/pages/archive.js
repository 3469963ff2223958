// Archive: list, restore and purge archived entries.

import * as api from "../api.js";
import { restore } from "../entries.js";
import { count, plural, size } from "../formatting.js";
import { useLoaded } from "../loading.js";
import { place, setQuery } from "../router.js";
import { mayIn } from "../session.js";
import { html, useState } from "../view.js";
import { FormDialog } from "../parts/dialog.js";
import { Icon } from "../parts/icon.js";
import { Pager, useFreshStart } from "../parts/pager.js";
import { Card, Field, Kind, PageHead, Select, TextFilter, Time } from "../parts/pieces.js";
import { Empty, Loaded } from "../parts/states.js";
import { clearToasts, say } from "../parts/toasts.js";

const PAGE_SIZE = 50;

export function Archive({ project }) {
    const { query } = place.value;
    const stats = useLoaded(() => api.command(project, "archiveStats"), [project]);
    const filter = { reason: query.reason || undefined, by: query.by || undefined };
    const page = useLoaded(() => api.command(project, "listArchive", {
        filter, page: { size: PAGE_SIZE, cursor: query.cursor || undefined },
    }), [project, query.reason, query.by, query.cursor]);
    useFreshStart(page.error);
    const [isPurging, setPurging] = useState(false);
    const changed = () => {
        stats.reload();
        page.reload();
    };
    const reasons = Object.entries(stats.data?.byReason ?? {})
        .map(([name, number]) => [name, `${name} (${count(number)})`]);
    return html`<${PageHead} title="Archive" about=${aboutOf(stats.data)}>
        ${mayIn(project, "admin") && html`<button class="btn btn-danger-quiet" onClick=${() => setPurging(true)}>
            <${Icon} name="trash3" /><span>Purge</span></button>`}
    </${PageHead}>
    <div class="stack-sm">
        <div class="filters">
            <${Select} isSmall label="Reason" value=${query.reason ?? ""}
                onPick=${(reason) => setQuery({ reason, cursor: "", page: "" })}
                options=${[["", "Any reason"], ...reasons]} />
            <${TextFilter} label="By" value=${query.by}
                onPick=${(by) => setQuery({ by, cursor: "", page: "" }, { replace: true })} />
        </div>
        <${Card} isFlush><${Loaded} from=${page} what="Loading the archive">
            ${({ items, nextCursor }) => (items.length === 0
            ? html`<${Empty} icon="archive" title="The archive is empty">
                <p>Deleted, expired and replaced entries appear here.</p></${Empty}>`
            : html`<ul class="rows" aria-label="Archived entries">
                ${items.map((item) => html`<${Item} key=${`${item.id} ${item.archivedUtc}`}
                item=${item} project=${project} onChange=${changed} />`)}</ul>
            <${Pager} cursor=${query.cursor} page=${query.page} next=${nextCursor}
                names=${["Newest", "Newer", "Older"]} go=${setQuery} shown=${items.length} size=${PAGE_SIZE}
                total=${totalOf(stats.data, query)} />`)}
        </${Loaded}></${Card}>
    </div>
    ${isPurging && html`<${Purge} project=${project} onClose=${() => setPurging(false)} onDone=${changed} />`}`;
}

/** Return the number of versions that the filters leave, if the server counts them. */
function totalOf(stats, { reason, by }) {
    if (!stats || by) {
        return undefined;
    }
    return reason ? stats.byReason[reason] ?? 0 : stats.archived;
}

function aboutOf(stats) {
    return stats
        ? `${plural(stats.archived, "archived version")}, ${size(stats.bytes)}.`
        : "Deleted, expired and replaced entries.";
}

function Item({ item, project, onChange }) {
    // A chunk is restored with its document.
    const isRestorable = item.kind !== "chunk" && mayIn(project, "curator");
    return html`<li class="row-item">
        <${Icon} name="archive" />
        <div>
            <strong>${item.title}</strong>
            <div class="row-meta"><${Kind} kind=${item.kind} /><span class="chip">${item.reason}</span>
                <span>by ${item.by}</span><${Time} utc=${item.archivedUtc} /></div>
        </div>
        ${isRestorable && html`<div class="row-side"><button class="btn btn-quiet btn-sm"
            aria-label=${`Restore ${item.title}`}
            onClick=${() => restore(project, item.id, onChange, item.archivedUtc)}>
                <${Icon} name="arrow-counterclockwise" /><span>Restore</span></button></div>`}
    </li>`;
}

function Purge({ project, onClose, onDone }) {
    const [days, setDays] = useState(90);
    const ask = (dryRun) => api.command(project, "purgeArchive", { olderThanDays: days, dryRun });
    const wouldGo = useLoaded(() => ask(true), [days]);
    const submit = async () => {
        const { purged } = await ask(false);
        clearToasts();
        say(`${plural(purged, "version")} permanently deleted.`);
        onDone();
    };
    return html`<${FormDialog} title="Permanently delete archived versions?" label="Purge" isDangerous
        isReady=${wouldGo.data?.purged > 0 && !wouldGo.isLoading} submit=${submit} onClose=${onClose}>
        <${Field} label="Older than (days)">
            ${(field) => html`<input ...${field} class="form-control" type="number" min="0" max="36500" value=${days}
            onInput=${(event) => setDays(Number(event.target.value))} />`}</${Field}>
        <p class="mb-0" role="status">
            ${wouldGo.data
                ? `${plural(wouldGo.data.purged, "version")} will be deleted. Backups are not changed.`
                : "Counting…"}</p>
    </${FormDialog}>`;
}
