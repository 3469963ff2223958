// The panel of one document: its chunks, references, versions and actions.

import * as api from "../api.js";
import { removeEntry } from "../entries.js";
import { moment, projectOf } from "../formatting.js";
import { useKeys } from "../keys.js";
import { useLoaded } from "../loading.js";
import { hrefOf, place, setQuery } from "../router.js";
import { tierIn } from "../session.js";
import { isAtLeast, mayEdit } from "../tiers.js";
import { upload } from "../uploads.js";
import { html, useState } from "../view.js";
import { FormDialog } from "./dialog.js";
import { DocumentChunks } from "./document_chunks.js";
import { DocumentHistory } from "./document_history.js";
import { DocumentRefs } from "./document_refs.js";
import { documentLine, FileButton } from "./document_upload.js";
import { Icon } from "./icon.js";
import { Card, CopyButton, CurationChip } from "./pieces.js";
import { Loaded } from "./states.js";
import { Tabs } from "./tabs.js";
import { say } from "./toasts.js";

const close = () => setQuery({ id: "", chunk: "", show: "" });

export function DocumentPanel({ project, id, stored, onChange }) {
    const loaded = useLoaded(() => load(project, id), [project, id, stored]);
    useKeys("Open document", { Escape: { does: "Close the document", run: close } });
    const removed = () => {
        close();
        onChange();
    };
    return html`<aside class="panel" aria-label="Document"><${Card} isFlush>
        <${Loaded} from=${loaded} what="Loading the document">${(found) => html`<${View} ...${found} onChange=${() => {
            loaded.reload();
            onChange();
        }} onRemoved=${removed} />`}</${Loaded}>
        ${loaded.error && html`<div class="card-in"><button class="btn btn-quiet btn-sm" onClick=${close}>
            Close</button></div>`}
    </${Card}></aside>`;
}

/** Load a document by its id or by that of one of its chunks. */
async function load(project, id) {
    const document = await api.command(project, "getDocument", { id });
    const [{ entry, version }, { refs }] = await Promise.all([
        api.command(project, "getEntry", { id: document.id }),
        api.command(project, "documentRefs", { documentId: document.id }),
    ]);
    return { document, entry, version, refs };
}

function View({ document, entry, version, refs, onChange, onRemoved }) {
    const own = projectOf(document.id);
    const past = isAtLeast(tierIn(own), "curator") ? [["history", "History"]] : [];
    const references = refs.length ? `References (${refs.length})` : "References";
    const tabs = [["chunks", "Chunks"], ["references", references], ...past, ["details", "Details"]];
    const wanted = place.value.query.show ?? "chunks";
    const tab = tabs.some(([name]) => name === wanted) ? wanted : "chunks";
    return html`<div>
        <${Actions} document=${document} entry=${entry} version=${version} onRemoved=${onRemoved} />
        <div class="card-in">
            <h2 class="panel-title">${document.title}</h2>
            <div class="actions mb-2"><${CurationChip} tier=${entry.curationTier} />
                <span class="small text-soft">${documentLine(document)}</span></div>
            <p class="body-text">${document.summary}</p>
            <${Tabs} label="About this document" tabs=${tabs} chosen=${tab}
                onPick=${(show) => setQuery({ show, chunk: "" }, { replace: true })} />
            ${tab === "chunks" && html`<${DocumentChunks} key=${document.version} document=${document} refs=${refs} />`}
            ${tab === "references" && html`<${DocumentRefs} document=${document} refs=${refs} onChange=${onChange} />`}
            ${tab === "history" && html`<${DocumentHistory} document=${document} />`}
            ${tab === "details" && html`<${Details} document=${document} entry=${entry} />`}
        </div>
    </div>`;
}

function Actions({ document, entry, version, onRemoved }) {
    const [isDeleting, setDeleting] = useState(false);
    const project = projectOf(document.id);
    const isEditable = mayEdit(tierIn(project), entry);
    const replace = (file) => {
        if (file) {
            upload(project, [file], { id: document.id });
            say(`Replacing “${document.title}” with ${file.name}.`);
        }
    };
    return html`<div class="panel-head"><div class="actions">
        ${isEditable && html`<${FileButton} label="Replace" icon="upload" onFile=${replace} />
        <button class="btn btn-danger-quiet btn-sm" onClick=${() => setDeleting(true)}>
            <${Icon} name="trash3" /><span>Delete</span></button>`}
        <a class="btn btn-quiet btn-sm" href=${hrefOf("entries", [project], { id: document.id })}>
            <${Icon} name="journal-text" /><span>Entry</span></a>
        </div>
        <button class="btn btn-bare btn-sm" aria-label="Close" onClick=${close}><${Icon} name="x-lg" /></button>
        ${isDeleting && html`<${FormDialog} title="Delete this document?" label="Delete" isDangerous
            submit=${() => removeEntry(entry, { version, force: entry.isPermanent || undefined, onChange: onRemoved })}
            onClose=${() => setDeleting(false)}>
            <p class="mb-0">“${document.title}” and its chunks move to the archive. You can restore them together.</p>
        </${FormDialog}>`}
    </div>`;
}

function Details({ document, entry }) {
    const rows = [
        ["Type", document.mime],
        ["Path", document.metadata.path ?? document.source?.path],
        ["Folder", document.metadata.folder],
        ["Tags", document.tags.join(", ")],
        ["Chunk size", document.metadata.chunkSize],
        ["SHA-256", document.sha256 && html`<code>${document.sha256}</code>`],
        ["Created", moment(entry.timestamps.createdUtc)],
        ["Updated", moment(entry.timestamps.updatedUtc)],
        ["Agent", entry.agentId],
        ["Id", html`<code>${document.id}</code>`],
    ];
    return html`<div class="stack-sm"><dl class="facts">
        ${rows.filter(([, value]) => value).map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}
    </dl><div><${CopyButton} text=${document.id} label="Copy id" /></div></div>`;
}
