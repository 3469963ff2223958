// What can be done to several entries at once.

import { patchEntry } from "../entries.js";
import * as api from "../api.js";
import { plural } from "../formatting.js";
import { tierIn } from "../session.js";
import { maySet } from "../tiers.js";
import { html, useState } from "../view.js";
import { FormDialog } from "./dialog.js";
import { Icon } from "./icon.js";
import { Field, Select, TagField } from "./pieces.js";
import { say } from "./toasts.js";

const CURATION = [
    ["provisional", "Provisional: nobody looked at it"], ["curated", "Curated: a person approved it"],
    ["canonical", "Canonical: this is how it is"],
];

/** Offer what can be done to those that are `selected`; `ids` are all that could be. */
export function BulkBar({ project, selected, ids: offered, onAll, onDone, onClear }) {
    const [dialog, setDialog] = useState(null);
    const ids = [...selected];
    const tier = tierIn(project);
    const each = async (what, change) => {
        const refused = [];
        for (const id of ids) {
            try {
                await change(id);
            } catch (error) {
                refused.push(error);
            }
        }
        const done = ids.length - refused.length;
        say(refused.length
            ? `${plural(done, "entry", "entries")} ${what}, ${refused.length} refused: ${refused[0].message}`
            : `${plural(done, "entry", "entries")} ${what}.`);
        onDone();
    };
    const close = () => setDialog(null);
    return html`<div class="bulk" role="region" aria-label="Selected entries">
        <strong class="me-auto">${plural(ids.length, "entry", "entries")} selected</strong>
        <button class="btn btn-quiet btn-sm" onClick=${() => setDialog("tags")}><${Icon} name="tag" />
            <span>Tags</span></button>
        ${maySet(tier, "curationTier") && html`<button class="btn btn-quiet btn-sm" onClick=${() => setDialog("tier")}>
            <${Icon} name="shield-check" /><span>Trust</span></button>`}
        <button class="btn btn-danger-quiet btn-sm" onClick=${() => setDialog("delete")}><${Icon} name="trash3" />
            <span>Delete</span></button>
        ${ids.length < offered.length && html`<button class="btn btn-bare btn-sm" onClick=${onAll}>
            Select all ${offered.length} here</button>`}
        <button class="btn btn-bare btn-sm" onClick=${onClear}>Clear</button>
        ${dialog === "tags" && html`<${TagDialog} ids=${ids} project=${project} each=${each} onClose=${close} />`}
        ${dialog === "tier" && html`<${TierDialog} ids=${ids} each=${each} onClose=${close} />`}
        ${dialog === "delete" && html`<${FormDialog} title=${`Delete ${plural(ids.length, "entry", "entries")}?`}
            label="Delete" isDangerous
            submit=${() => each("deleted", (id) => api.command(project, "deleteEntry", { id }))} onClose=${close}>
            <p class="mb-0">They go to the archive, from where a curator can bring them back.</p>
        </${FormDialog}>`}
    </div>`;
}

function TagDialog({ ids, project, each, onClose }) {
    const [added, setAdded] = useState([]);
    const [removed, setRemoved] = useState([]);
    const retag = async (id) => {
        const { entry, version } = await api.command(project, "getEntry", { id });
        const tags = [...new Set([...(entry.tags ?? []), ...added])].filter((tag) => !removed.includes(tag));
        await patchEntry(id, { tags }, version);
    };
    return html`<${FormDialog} title=${`Tags of ${plural(ids.length, "entry", "entries")}`} label="Change tags"
        isReady=${added.length + removed.length > 0} submit=${() => each("tagged", retag)} onClose=${onClose}>
        <${Field} label="Add">
            ${(field) => html`<${TagField} ...${field} values=${added} onChange=${setAdded} />`}</${Field}>
        <${Field} label="Remove">
            ${(field) => html`<${TagField} ...${field} values=${removed} onChange=${setRemoved} />`}</${Field}>
    </${FormDialog}>`;
}

function TierDialog({ ids, each, onClose }) {
    const [curationTier, setTier] = useState("curated");
    return html`<${FormDialog} title=${`Trust of ${plural(ids.length, "entry", "entries")}`} label="Change trust"
        submit=${() => each(`now ${curationTier}`, (id) => patchEntry(id, { curationTier }))} onClose=${onClose}>
        <${Field} label="How far they are trusted">
            ${(field) => html`<${Select} ...${field} label=${undefined} value=${curationTier} onPick=${setTier}
            options=${CURATION} />`}</${Field}>
    </${FormDialog}>`;
}
