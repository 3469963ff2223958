// The panel of one entry: its content, details, links, history and actions.

import { getEntry, patchEntry, removeEntry } from "../entries.js";
import { localId, moment, projectOf, words } from "../formatting.js";
import { useKeys } from "../keys.js";
import { useLoaded } from "../loading.js";
import { hrefOf, setQuery } from "../router.js";
import { tierIn } from "../session.js";
import { isAtLeast, mayEdit, maySet } from "../tiers.js";
import { html, useEffect, useRef, useState } from "../view.js";
import { EntryBody, Value } from "./entry_body.js";
import { EntryEditor } from "./entry_editor.js";
import { EntryHistory } from "./entry_history.js";
import { EntryLinks } from "./entry_links.js";
import { FlagChip } from "./entry_list.js";
import { FormDialog } from "./dialog.js";
import { Icon } from "./icon.js";
import { MoveDialog, placesFor } from "./move_dialog.js";
import { Card, CopyButton, CurationChip, Kind, Select, Time } from "./pieces.js";
import { Loaded } from "./states.js";
import { Tabs } from "./tabs.js";
import { complain, say } from "./toasts.js";

const CURATION = ["provisional", "curated", "canonical"];
const IN_DOCUMENTS = {
    document: (id) => ({ id }),
    chunk: (id) => ({ id, chunk: id, show: "chunks" }),
};
const close = () => setQuery({ id: "", edit: "", new: "", copy: "" });

export function EntryPanel({ project, id, isEditing, onChange }) {
    const loaded = useLoaded(() => getEntry(project, id), [project, id]);
    useKeys("Open entry", { Escape: { does: "Close the entry", run: close } });
    const changed = () => {
        loaded.reload();
        onChange();
    };
    return html`<aside class="panel" aria-label="Entry"><${Card} isFlush>
        <${Loaded} from=${loaded} what="Loading the entry">
            ${({ entry, version, flags }) => (isEditing && mayEdit(tierIn(projectOf(id)), entry)
                ? html`<${EntryEditor} key=${`${id}-edit`} project=${project} entry=${entry} version=${version}
                    onSaved=${() => { setQuery({ edit: "" }, { replace: true }); changed(); }}
                    onCancel=${() => setQuery({ edit: "" })} />`
                : html`<${EntryView} key=${id} entry=${entry} version=${version} flags=${flags} onChange=${changed}
                    onRemoved=${() => { close(); onChange(); }} />`)}
        </${Loaded}>
    </${Card}></aside>`;
}

function EntryView({ entry, version, flags = [], onChange, onRemoved }) {
    const [tab, setTab] = useState("details");
    const seesHistory = isAtLeast(tierIn(projectOf(entry.id)), "curator");
    const past = seesHistory ? [["history", "History"]] : [];
    const tabs = [["details", "Details"], ["links", "Links"], ...past, ["json", "JSON"]];
    return html`<div>
        <${Actions} entry=${entry} version=${version} onChange=${onChange} onRemoved=${onRemoved} />
        <div class="card-in">
            <h2 class="panel-title">${entry.title}</h2>
            <div class="actions mb-3">
                <${Kind} kind=${entry.kind} />
                <${CurationChip} tier=${entry.curationTier} />
                ${entry.pinned && html`<span class="chip accent"><${Icon} name="pin-angle-fill" />pinned</span>`}
                ${entry.isPermanent && html`<span class="chip canonical"><${Icon} name="lock" />permanent</span>`}
                ${entry.ttlUtc && !entry.isPermanent
                    && html`<span class="chip warn">expires <${Time} utc=${entry.ttlUtc} /></span>`}
                ${flags.map((flag) => html`<${FlagChip} key=${flag} flag=${flag} />`)}
            </div>
            <${EntryBody} entry=${entry} />
            <${Tabs} label="About this entry" tabs=${tabs} chosen=${tab} onPick=${setTab} />
            ${tab === "details" && html`<${Details} entry=${entry} version=${version} />`}
            ${tab === "links" && html`<${EntryLinks} entry=${entry} version=${version} onChange=${onChange} />`}
            ${tab === "history" && html`<${EntryHistory} entry=${entry} version=${version} onChange=${onChange} />`}
            ${tab !== "json" && html`<p class="small mt-3 mb-0">
                <a href=${hrefOf("graph", [projectOf(entry.id)], { id: entry.id })}>Show in graph</a>
                ${IN_DOCUMENTS[entry.kind] && html` · <a href=${hrefOf("documents", [projectOf(entry.id)],
                    IN_DOCUMENTS[entry.kind](entry.id))}>Show in Documents</a>`}</p>`}
            ${tab === "json" && html`<div class="stack-sm">
                <pre class="code-text" tabindex="0" aria-label="The entry as JSON">
                    ${JSON.stringify(entry, null, 2)}</pre>
                <div><${CopyButton} text=${JSON.stringify(entry, null, 2)} label="Copy JSON" /></div>
            </div>`}
        </div>
    </div>`;
}

function Actions({ entry, version, onChange, onRemoved }) {
    const [isDeleting, setDeleting] = useState(false);
    const [isMoving, setMoving] = useState(false);
    const project = projectOf(entry.id);
    const tier = tierIn(project);
    const isEditable = mayEdit(tier, entry);
    // The next change may come before the entry is read again.
    const latest = useRef(version);
    useEffect(() => {
        latest.current = version;
    }, [version]);
    const patch = async (change, done) => {
        try {
            latest.current = (await patchEntry(entry.id, change, latest.current)).version;
            say(done);
        } catch (error) {
            complain(error);
        }
        onChange();
    };
    const remove = () => removeEntry(entry, {
        version, force: entry.isPermanent || undefined, onChange: onRemoved,
    });
    useKeys("This entry", isEditable ? { e: { does: "Edit", run: () => setQuery({ edit: "yes" }) } } : {});
    return html`<div class="panel-head"><div class="actions">
        ${isEditable && html`<button class="btn btn-primary btn-sm" onClick=${() => setQuery({ edit: "yes" })}>
            <${Icon} name="pencil" /><span>Edit</span></button>`}
        ${tier !== "reader" && html`<button class="btn btn-quiet btn-sm" title="Duplicate"
            onClick=${() => setQuery({ copy: entry.id, id: "" })}>
            <${Icon} name="copy" /><span class="shrinks">Duplicate</span></button>`}
        ${isEditable && maySet(tier, "pinned") && html`<button class="btn btn-quiet btn-sm"
            aria-pressed=${entry.pinned === true}
            onClick=${() => patch({ pinned: !entry.pinned }, entry.pinned ? "Unpinned." : "Pinned.")}>
            <${Icon} name="pin-angle" /><span>${entry.pinned ? "Unpin" : "Pin"}</span></button>`}
        ${isEditable && maySet(tier, "curationTier") && html`<div><${Select} isSmall label="Trust"
            value=${entry.curationTier ?? "provisional"} options=${CURATION.map((one) => [one, words(one)])}
            onPick=${(curationTier) => patch({ curationTier }, `Marked as ${curationTier}.`)} /></div>`}
        ${isEditable && placesFor(entry).length > 0 && html`<button class="btn btn-quiet btn-sm" title="Move"
            onClick=${() => setMoving(true)}>
            <${Icon} name="arrows-move" /><span class="shrinks">Move</span></button>`}
        ${isEditable && html`<button class="btn btn-danger-quiet btn-sm" title="Delete"
            onClick=${() => setDeleting(true)}>
            <${Icon} name="trash3" /><span class="shrinks">Delete</span></button>`}
        </div>
        <button class="btn btn-bare btn-sm" aria-label="Close the entry" onClick=${close}>
            <${Icon} name="x-lg" /></button>
        ${isMoving && html`<${MoveDialog} entry=${entry} version=${version} onClose=${() => setMoving(false)}
            onMoved=${onRemoved} />`}
        ${isDeleting && html`<${FormDialog} title="Delete this entry?" label="Delete" isDangerous
            submit=${remove} onClose=${() => setDeleting(false)}>
            <p class="mb-0">“${entry.title}” moves to the archive, where a curator can restore it.
                ${entry.isPermanent && " It is marked as permanent."}</p>
        </${FormDialog}>`}
    </div>`;
}

function Details({ entry, version }) {
    const { createdUtc, updatedUtc, sourceUtc } = entry.timestamps;
    const rows = [
        ["Tags", entry.tags?.length && html`<div class="actions">${entry.tags.map((tag) => html`<a class="chip"
            key=${tag} href=${hrefOf("entries", [projectOf(entry.id)], { tag })}>${tag}</a>`)}</div>`],
        ["Keywords", entry.keywords?.join(", ")],
        ["Namespace", entry.namespace],
        ["Epic", [entry.epicSlug, entry.epicCase].filter(Boolean).join(" / ")],
        ["Agent", entry.agentId],
        ["Priority", entry.priority ?? 5],
        ["Confidence", entry.confidence ?? 1],
        ["Retention", words(entry.retention ?? "long")],
        ["Expires", entry.ttlUtc && moment(entry.ttlUtc)],
        ["Source", entry.source && html`<${Value} value=${entry.source} />`],
        ["Created", moment(createdUtc)],
        ["Updated", moment(updatedUtc)],
        ["Source time", sourceUtc && moment(sourceUtc)],
        ["Metadata", Object.keys(entry.metadata ?? {}).length > 0 && html`<${Value} value=${entry.metadata} />`],
        ["Id", html`<code>${localId(entry.id)}</code>`],
        ["Version", html`<code>${version}</code>`],
    ];
    return html`<div class="stack-sm"><dl class="facts">
        ${rows.filter(([, value]) => value || value === 0).map(([name, value]) => html`<dt>${name}</dt><dd>
            ${value}</dd>`)}
    </dl><div><${CopyButton} text=${entry.id} label="Copy id" /></div></div>`;
}
