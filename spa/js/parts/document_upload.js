// Upload of documents: a drop zone, a button, and the progress of every file.

import { typeName } from "../documents.js";
import { count, plural, size } from "../formatting.js";
import { hrefOf } from "../router.js";
import { cancelWaiting, clearFinished, isOpen, upload, uploads } from "../uploads.js";
import { html, useRef, useState } from "../view.js";
import { Icon } from "./icon.js";
import { Card, Check } from "./pieces.js";

const ENDINGS = ".txt,.md,.markdown,.html,.htm,.json,.jsonl,.csv,.tsv,.pdf,.docx,.pptx,.xlsx,.epub,text/*";
const TONES = { stored: "good", replaced: "good", unchanged: "", failed: "bad" };
const WORDS = {
    waiting: "waiting", storing: "reading and storing…", stored: "stored", replaced: "replaced",
    unchanged: "already stored", failed: "failed",
};

export function DocumentUpload({ project }) {
    const [replaces, setReplaces] = useState(true);
    const add = (files) => files.length && upload(project, files, { replaces });
    return html`<${Card}><div class="stack-sm">
        <${DropZone} onFiles=${add} />
        <${Check} label="Replace a document with the same file name" value=${replaces} onChange=${setReplaces} />
        <${Uploads} project=${project} />
    </div></${Card}>`;
}

function DropZone({ onFiles }) {
    const field = useRef(null);
    const [isOver, setOver] = useState(false);
    const onDrop = (event) => {
        event.preventDefault();
        setOver(false);
        onFiles([...event.dataTransfer.files]);
    };
    const onDragOver = (event) => {
        event.preventDefault();
        event.dataTransfer.dropEffect = "copy";
        setOver(true);
    };
    const onChange = () => {
        onFiles([...field.current.files]);
        field.current.value = "";
    };
    return html`<div class=${`drop-zone ${isOver ? "over" : ""}`} onDragOver=${onDragOver} onDrop=${onDrop}
        onDragLeave=${() => setOver(false)}>
        <${Icon} name="upload" />
        <p>Drop files here, or choose them.</p>
        <button type="button" class="btn btn-primary" onClick=${() => field.current.click()}>
            <${Icon} name="plus-lg" /><span>Choose files</span></button>
        <input ref=${field} type="file" multiple hidden accept=${ENDINGS} aria-label="Files" onChange=${onChange} />
        <p class="small text-soft">Text, Markdown, HTML, JSON, CSV, source code, PDF, DOCX, PPTX, XLSX, EPUB.
            Up to 25 MiB each.</p>
    </div>`;
}

/** A button that chooses one file. */
export function FileButton({ label, icon, onFile }) {
    const field = useRef(null);
    const onChange = () => {
        onFile(field.current.files[0]);
        field.current.value = "";
    };
    return html`<button type="button" class="btn btn-quiet btn-sm" onClick=${() => field.current.click()}>
            <${Icon} name=${icon} /><span>${label}</span></button>
        <input ref=${field} type="file" hidden accept=${ENDINGS} aria-label=${`${label} with a file`}
            onChange=${onChange} />`;
}

function Uploads({ project }) {
    const own = uploads.value.filter((one) => one.project === project);
    if (own.length === 0) {
        return null;
    }
    const done = own.filter((one) => !isOpen(one)).length;
    const failed = own.filter(({ state }) => state === "failed").length;
    const isBusy = done < own.length;
    return html`<div class="stack-sm" role="group" aria-label="Uploads">
        <progress class="w-100" max=${own.length} value=${done} aria-label="Upload"></progress>
        <div class="d-flex gap-2 align-items-center flex-wrap">
            <span class="small text-soft me-auto" role="status">
                ${`${count(done)} of ${plural(own.length, "file")}${failed ? `, ${count(failed)} failed` : ""}`}</span>
            ${isBusy && own.length - done > 1 && html`<button class="btn btn-bare btn-sm"
                onClick=${() => cancelWaiting(project)}>Cancel the rest</button>`}
            ${done > 0 && html`<button class="btn btn-bare btn-sm"
                onClick=${() => clearFinished(project)}>Clear list</button>`}
        </div>
        <ul class="uploads" tabindex="0" aria-label="Uploaded files">
            ${own.map((one) => html`<${Upload} key=${one.key} one=${one} project=${project} />`)}</ul>
    </div>`;
}

function Upload({ one, project }) {
    const { name, state, answer, error } = one;
    return html`<li>
        <div class="d-flex gap-2 align-items-baseline">
            <span class="upload-name">${answer
                ? html`<a href=${hrefOf("documents", [project], { id: answer.id })}>${name}</a>` : name}</span>
            <span class="small text-soft text-nowrap">${size(one.size)}</span>
            <span class=${`chip flex-shrink-0 ${TONES[state] ?? "accent"}`}>${WORDS[state]}</span>
        </div>
        ${error && html`<div class="field-error">${error.message.replace(/^(data|mime): /, "")}</div>`}
        ${answer && html`<div class="small text-soft">${plural(answer.chunkCount, "chunk")}</div>`}
        ${answer?.warnings?.map((text) => html`<div class="small upload-warning" key=${text}>${text}</div>`)}
    </li>`;
}

/** The facts of a document on one line. */
export function documentLine({ mime, chunkCount, metadata = {} }) {
    const parts = [typeName(mime), plural(chunkCount ?? metadata.chunkCount ?? 0, "chunk")];
    if (metadata.pages) {
        parts.push(plural(metadata.pages, "page"));
    }
    if (metadata.characters) {
        parts.push(`${count(metadata.characters)} characters`);
    }
    return parts.join(" · ");
}
