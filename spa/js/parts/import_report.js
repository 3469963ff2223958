// The report of an import or of its dry run.

import { count, plural } from "../formatting.js";
import { html } from "../view.js";
import { Notice } from "./states.js";

export function ImportReport({ state }) {
    if (state.isBusy) {
        return html`<div class="stack-sm">
            <progress class="w-100" max=${state.total || 1} value=${state.total ? state.done : undefined}
                aria-label="Import"></progress>
            <span class="small text-soft">${state.total
                ? `${count(state.done)} of ${plural(state.total, "entry", "entries")}`
                : `Reading ${state.file ?? "the files"}…`}</span>
        </div>`;
    }
    const { found, stored, replaced, known, refused, faults, notes, dryRun } = state;
    const isGood = refused === 0;
    return html`<div class="stack-sm">
        <${Notice} tone=${isGood ? "good" : "warn"} icon=${isGood ? "check2" : "exclamation-triangle"}>
            ${dryRun ? "Dry run: nothing was stored." : "Import finished."}
        </${Notice}>
        <dl class="facts" aria-label="Report">
            <dt>Found</dt><dd>${plural(found, "memory", "memories")}</dd>
            <dt>${dryRun ? "Would be stored" : "Stored"}</dt><dd>${count(stored)}</dd>
            ${replaced > 0 && html`<dt>${dryRun ? "Would be replaced" : "Replaced"}</dt><dd>${count(replaced)}</dd>`}
            <dt>Already existed</dt><dd>${count(known)}</dd>
            <dt>Failed</dt><dd>${count(refused)}</dd>
        </dl>
        ${notes.length > 0 && html`<ul class="faults" tabindex="0" aria-label="Warnings">
            ${notes.map(({ place, message }) => html`<li><strong>${place}</strong> ${message}</li>`)}
        </ul>`}
        ${refused > 0 && html`<ul class="faults" tabindex="0" aria-label="Errors">
            ${faults.map(({ place, message }) => html`<li><strong>${place}</strong> ${message}</li>`)}
            ${refused > faults.length && html`<li>and ${count(refused - faults.length)} more</li>`}
        </ul>`}
    </div>`;
}
