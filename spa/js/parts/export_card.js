// Exports the memories of a project to a file, page by page.

import * as api from "../api.js";
import { plural, words } from "../formatting.js";
import { html, useEffect, useRef, useState } from "../view.js";
import { KINDS } from "./entry_filters.js";
import { Icon } from "./icon.js";
import { Card, Field, Select } from "./pieces.js";
import { Failed, Notice } from "./states.js";

const FORMATS = {
    jsonl: { title: "JSON lines: complete", ending: "jsonl", type: "application/jsonl" },
    json: { title: "JSON: complete", ending: "json", type: "application/json" },
    markdown: { title: "Markdown: for reading", ending: "md", type: "text/markdown" },
    csv: { title: "CSV: for spreadsheets", ending: "csv", type: "text/csv" },
};
const TIERS = ["provisional", "curated", "canonical"];

export function ExportCard({ project }) {
    const [asked, setAsked] = useState({ format: "jsonl", kind: "", tier: "", tag: "" });
    const [state, setState] = useState(null);
    const isOver = useRef(false);
    useEffect(() => () => {
        isOver.current = true;
    }, []);
    const set = (name) => (value) => setAsked({ ...asked, [name]: value });
    const pick = (name, label, options) => html`<${Field} label=${label}>${(field) => html`<${Select} ...${field}
        label=${undefined} value=${asked[name]} options=${options} onPick=${set(name)} />`}</${Field}>`;
    const run = async () => {
        setState({ count: 0, total: 0 });
        try {
            const texts = await collect(project, asked, (found) => !isOver.current && setState(found));
            if (!isOver.current) {
                download(new Blob(texts, { type: FORMATS[asked.format].type }), nameOf(project, asked.format));
            }
        } catch (error) {
            setState({ error });
        }
    };
    return html`<${Card} title="Export">
        <div class="stack-sm">
            <p class="mb-0">All entries or a filtered list, oldest first. To be able to restore the project, use a
                backup.</p>
            <div class="field-grid">
                ${pick("format", "Format", Object.entries(FORMATS).map(([name, { title }]) => [name, title]))}
                ${pick("kind", "Kind", [["", "Any kind"], ...KINDS.map((one) => [one, words(one)])])}
                ${pick("tier", "Trust", [["", "Any trust"], ...TIERS.map((one) => [one, words(one)])])}
                <${Field} label="Tag">${(field) => html`<input ...${field} class="form-control" placeholder="Any tag"
                    value=${asked.tag} onInput=${(event) => set("tag")(event.target.value.trim())} />`}</${Field}>
            </div>
            <div><button class="btn btn-primary" disabled=${state && !state.isDone && !state.error} onClick=${run}>
                <${Icon} name="download" /><span>Export</span></button></div>
            <div role="status"><${Progress} state=${state} /></div>
        </div>
    </${Card}>`;
}

function Progress({ state }) {
    if (!state) {
        return null;
    }
    if (state.error) {
        return html`<${Failed} error=${state.error} />`;
    }
    if (state.isDone) {
        return html`<${Notice} tone="good" icon="check2">
            ${plural(state.count, "entry", "entries")} exported.</${Notice}>`;
    }
    return html`<div class="stack-sm">
        <progress class="w-100" max=${state.total || 1} value=${state.count} aria-label="Export"></progress>
        <span class="small text-soft">${plural(state.count, "entry", "entries")} so far</span>
    </div>`;
}

/** Return the texts of all pages; `tell` is called with the progress. */
async function collect(project, asked, tell) {
    const texts = [];
    let count = 0;
    let cursor;
    do {
        const part = await api.admin("GET", `export/${api.pathOf(project)}`, { query: { ...asked, cursor } });
        texts.push(part.text);
        count += part.count;
        cursor = part.nextCursor;
        tell({ count, total: part.total, isDone: cursor === null });
    } while (cursor !== null);
    return texts;
}

function nameOf(project, format) {
    return `${project}-${new Date().toISOString().slice(0, 10)}.${FORMATS[format].ending}`;
}

function download(blob, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    URL.revokeObjectURL(link.href);
}
