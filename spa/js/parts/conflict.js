// A conflict copy beside the current entry, with a diff and the actions to resolve it.

import * as api from "../api.js";
import { getEntry } from "../entries.js";
import { diffLines } from "../line_diff.js";
import { hrefOf } from "../router.js";
import { mayIn } from "../session.js";
import { html, useState } from "../view.js";
import { Diff } from "./diff.js";
import { FormDialog } from "./dialog.js";
import { CopyButton, Time } from "./pieces.js";
import { say } from "./toasts.js";

export function Conflict({ item, onChange }) {
    const { project, conflict, current } = item;
    const [dialog, setDialog] = useState(null);
    const lost = pretty(conflict.entry ?? conflict);
    const title = current?.title ?? conflict.entry?.title ?? conflict.id;
    const close = () => setDialog(null);
    return html`<li class="row-item one-column">
        <div class="stack-sm">
            <div><strong>${title}</strong>
                <div class="small text-soft">${project}, ${conflict.reason ?? "lost against a hand edit"},
                    ${" "}<${Time} utc=${conflict.writtenUtc} /></div></div>
            <div class="beside">
                <div><h3>Conflict copy</h3>
                    <pre class="code-text wraps" tabindex="0" aria-label=${`The copy of ${title}`}>${lost}</pre></div>
                <div><h3>Current entry</h3>${current
                    ? html`<${Diff} label=${`Current entry ${title}, compared`}
                        lines=${diffLines(lost, pretty(current))} />`
                    : html`<p class="text-soft">None: the entry was removed from the file.</p>`}</div>
            </div>
            <div class="actions">
                ${mayIn(project, "admin") && html`
                    ${conflict.entry && html`<button class="btn btn-primary btn-sm" onClick=${() => setDialog("take")}>
                        Use the copy</button>`}
                    <button class="btn btn-quiet btn-sm" onClick=${() => setDialog("dismiss")}>Dismiss</button>`}
                ${current && html`<a class="btn btn-quiet btn-sm"
                    href=${hrefOf("entries", [project], { id: conflict.id })}>Open the entry</a>`}
                <${CopyButton} text=${lost} label="Copy as JSON" />
            </div>
        </div>
        ${dialog === "take" && html`<${FormDialog} title="Replace the current entry with the copy?"
            label="Use the copy"
            submit=${() => take(item).then(onChange)} onClose=${close}>
            <p class="mb-0">The current version stays in the history of the entry, where it can be restored.</p>
        </${FormDialog}>`}
        ${dialog === "dismiss" && html`<${FormDialog} title="Dismiss this copy?" label="Dismiss"
            submit=${() => dismiss(item).then(onChange)} onClose=${close}>
            <p class="mb-0">It moves to the archive. The current entry is not changed.</p>
        </${FormDialog}>`}
    </li>`;
}

async function take({ project, conflict, current }) {
    const living = current && await getEntry(project, conflict.id);
    await api.command(project, "upsertEntry", { entry: conflict.entry, ifVersion: living?.version });
    await api.command(project, "dismissConflicts", { ids: [conflict.id] });
    say("The copy is the current version now.");
}

async function dismiss({ project, conflict }) {
    await api.command(project, "dismissConflicts", { ids: [conflict.id] });
    say("The copy moved to the archive.");
}

/** Return an entry as JSON with sorted keys, so that the diff shows only real differences. */
function pretty(entry) {
    const sorted = (_key, value) => (value && typeof value === "object" && !Array.isArray(value)
        ? Object.fromEntries(Object.keys(value).sort().map((key) => [key, value[key]]))
        : value);
    return JSON.stringify(entry, sorted, 2);
}
