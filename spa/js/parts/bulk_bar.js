// Bulk actions on the selected entries.

import { patchEntry } from "../entries.js";
import * as api from "../api.js";
import { changeEach, MOST_SELECTED } from "../bulk.js";
import { count, plural } from "../formatting.js";
import { tierIn } from "../session.js";
import { maySet } from "../tiers.js";
import { html, useRef, useState } from "../view.js";
import { FormDialog } from "./dialog.js";
import { Icon } from "./icon.js";
import { Field, Select, TagField } from "./pieces.js";
import { say } from "./toasts.js";

/** With more entries than this, an action shows its progress. */
const FEW = 20;
const CURATION = [
    ["provisional", "Provisional: not reviewed"], ["curated", "Curated: approved by a person"],
    ["canonical", "Canonical: authoritative"],
];

/**
 * Offer actions for the `selected` entries; `ids` are all on this page, `total` is the number of all that match, and
 * `onMatching` selects them.
 */
export function BulkBar({ project, selected, ids: offered, total, onAll, onMatching, onDone, onClear }) {
    const [dialog, setDialog] = useState(null);
    const [progress, setProgress] = useState(null);
    const isStopped = useRef(false);
    const ids = [...selected];
    const tier = tierIn(project);
    const each = async (what, change) => {
        isStopped.current = false;
        const { done, refused } = await changeEach(ids, change, (number) => {
            setProgress(number);
            return !isStopped.current;
        });
        setProgress(null);
        const rest = ids.length - done - refused.length;
        const failed = refused.length ? `, ${refused.length} failed: ${refused[0].message}` : "";
        say(`${plural(done, "entry", "entries")} ${what}${failed}${rest ? `, ${count(rest)} left` : ""}.`
            .replace("..", "."));
        onDone();
    };
    const close = () => {
        isStopped.current = true;
        setDialog(null);
    };
    const bar = progress !== null && ids.length > FEW && html`<div role="status">
        <progress class="w-100" max=${ids.length} value=${progress} aria-label="Progress"></progress>
        <span class="small text-soft">${count(progress)} of ${count(ids.length)}; closing this stops it.</span></div>`;
    return html`<div class="bulk" role="region" aria-label="Selected entries">
        <strong class="me-auto">${plural(ids.length, "entry", "entries")} selected</strong>
        <button class="btn btn-quiet btn-sm" onClick=${() => setDialog("tags")}><${Icon} name="tag" />
            <span>Tags</span></button>
        ${maySet(tier, "curationTier") && html`<button class="btn btn-quiet btn-sm" onClick=${() => setDialog("tier")}>
            <${Icon} name="shield-check" /><span>Trust</span></button>`}
        <button class="btn btn-danger-quiet btn-sm" onClick=${() => setDialog("delete")}><${Icon} name="trash3" />
            <span>Delete</span></button>
        ${offered.some((id) => !selected.has(id)) && html`<button class="btn btn-bare btn-sm" onClick=${onAll}>
            Select all ${offered.length} on this page</button>`}
        ${total > offered.length && ids.length < Math.min(total, MOST_SELECTED) && html`<button
            class="btn btn-bare btn-sm" onClick=${onMatching}>${total > MOST_SELECTED
                ? `Select the first ${count(MOST_SELECTED)} of ${count(total)} that match`
                : `Select all ${count(total)} that match`}</button>`}
        <button class="btn btn-bare btn-sm" onClick=${onClear}>Clear</button>
        ${dialog === "tags" && html`<${TagDialog} ids=${ids} project=${project} each=${each} bar=${bar}
            onClose=${close} />`}
        ${dialog === "tier" && html`<${TierDialog} ids=${ids} each=${each} bar=${bar} onClose=${close} />`}
        ${dialog === "delete" && html`<${FormDialog} title=${`Delete ${plural(ids.length, "entry", "entries")}?`}
            label="Delete" isDangerous
            submit=${() => each("deleted", (id) => api.command(project, "deleteEntry", { id }))} onClose=${close}>
            <p class="mb-0">They move to the archive, where a curator can restore them.</p>
            ${bar}
        </${FormDialog}>`}
    </div>`;
}

function TagDialog({ ids, project, each, bar, onClose }) {
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
        ${bar}
    </${FormDialog}>`;
}

function TierDialog({ ids, each, bar, onClose }) {
    const [curationTier, setTier] = useState("curated");
    return html`<${FormDialog} title=${`Trust of ${plural(ids.length, "entry", "entries")}`} label="Change trust"
        submit=${() => each(`marked as ${curationTier}`, (id) => patchEntry(id, { curationTier }))} onClose=${onClose}>
        <${Field} label="Trust level">
            ${(field) => html`<${Select} ...${field} label=${undefined} value=${curationTier} onPick=${setTier}
            options=${CURATION} />`}</${Field}>
        ${bar}
    </${FormDialog}>`;
}
