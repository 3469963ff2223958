// A conflict copy beside the entry that lives: line by line, with the ways on.

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
                <div class="small text-soft">${project}, ${conflict.reason ?? "an edit by hand came first"},
                    ${" "}<${Time} utc=${conflict.writtenUtc} /></div></div>
            <div class="beside">
                <div><h3>The copy that gave way</h3>
                    <pre class="code-text wraps" tabindex="0" aria-label=${`The copy of ${title}`}>${lost}</pre></div>
                <div><h3>What lives</h3>${current
                    ? html`<${Diff} label=${`What lives of ${title}, compared`}
                        lines=${diffLines(lost, pretty(current))} />`
                    : html`<p class="text-soft">Nothing: the entry was taken out of the file.</p>`}</div>
            </div>
            <div class="actions">
                ${mayIn(project, "admin") && html`
                    ${conflict.entry && html`<button class="btn btn-primary btn-sm" onClick=${() => setDialog("take")}>
                        Take the copy</button>`}
                    <button class="btn btn-quiet btn-sm" onClick=${() => setDialog("dismiss")}>Dismiss</button>`}
                ${current && html`<a class="btn btn-quiet btn-sm"
                    href=${hrefOf("entries", [project], { id: conflict.id })}>Open the entry</a>`}
                <${CopyButton} text=${lost} label="Copy the lost version" />
            </div>
        </div>
        ${dialog === "take" && html`<${FormDialog} title="Put the copy in the place of what lives?"
            label="Take the copy"
            submit=${() => take(item).then(onChange)} onClose=${close}>
            <p class="mb-0">What lives now stays in the history of the entry, from where it can be brought back.</p>
        </${FormDialog}>`}
        ${dialog === "dismiss" && html`<${FormDialog} title="Dismiss this copy?" label="Dismiss"
            submit=${() => dismiss(item).then(onChange)} onClose=${close}>
            <p class="mb-0">It goes to the archive. What lives stays as it is.</p>
        </${FormDialog}>`}
    </li>`;
}

async function take({ project, conflict, current }) {
    const living = current && await getEntry(project, conflict.id);
    await api.command(project, "upsertEntry", { entry: conflict.entry, ifVersion: living?.version });
    await api.command(project, "dismissConflicts", { ids: [conflict.id] });
    say("The copy lives now.");
}

async function dismiss({ project, conflict }) {
    await api.command(project, "dismissConflicts", { ids: [conflict.id] });
    say("The copy went to the archive.");
}

/** Return an entry with its keys in one order, so that only what differs does. */
function pretty(entry) {
    const sorted = (_key, value) => (value && typeof value === "object" && !Array.isArray(value)
        ? Object.fromEntries(Object.keys(value).sort().map((key) => [key, value[key]]))
        : value);
    return JSON.stringify(entry, sorted, 2);
}
