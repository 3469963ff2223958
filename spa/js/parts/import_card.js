// Imports memories from files into a project, with a dry run and a report.

import * as api from "../api.js";
import { plural, size } from "../formatting.js";
import { batchesOf, emptyReport, formatOf, withAnswer, withFault } from "../importing.js";
import { html, useEffect, useRef, useState } from "../view.js";
import { Icon } from "./icon.js";
import { ImportReport } from "./import_report.js";
import { Card, Check, Field, Select } from "./pieces.js";
import { Failed, Notice } from "./states.js";

const FORMATS = [
    ["jsonl", "JSON lines, as in entries.jsonl"], ["json", "JSON export"], ["markdown", "Markdown, one file per entry"],
    ["csv", "CSV table"], ["aiMemory", "ai-memory export"], ["serverMemory", "MCP server-memory file"],
];
const MOST_BYTES = 64 * 1024 * 1024;

export function ImportCard({ project }) {
    const [files, setFiles] = useState([]);
    const [options, setOptions] = useState({ format: "jsonl", textColumn: "", replaces: false, trustSource: false });
    const [state, setState] = useState(null);
    const isOver = useRef(false);
    useEffect(() => () => {
        isOver.current = true;
    }, []);
    const set = (name) => (value) => {
        setOptions({ ...options, [name]: value });
        setState(null);
    };
    const choose = (event) => {
        const chosen = [...event.target.files];
        setFiles(chosen);
        setState(null);
        setOptions({ ...options, format: chosen.length ? formatOf(chosen[0].name, options.format) : options.format });
    };
    const run = async (dryRun) => {
        let kept = 0;
        const tell = (report) => {
            kept = dryRun ? 0 : report.stored + report.replaced;
            return !isOver.current && setState({ ...report, dryRun, isBusy: true });
        };
        tell({ ...emptyReport(), done: 0, total: 0 });
        try {
            const report = await importFiles(project, files, { ...options, dryRun }, tell);
            setState({ ...report, dryRun });
        } catch (error) {
            setState({ error, kept });
        }
    };
    const isReady = files.length > 0 && !state?.isBusy;
    return html`<${Card} title="Import">
        <div class="stack-sm">
            <${Field} label="Files"
                hint=${files.length
                    ? `${size(total(files))} in all`
                    : "Up to 64 MB and 50,000 rows each; for more use memoryctl import."}>
                ${(field) => html`<input ...${field} class="form-control" type="file" multiple onChange=${choose} />`}
            </${Field}>
            <${Field} label="Format">${(field) => html`<${Select} ...${field} label=${undefined} value=${options.format}
                options=${FORMATS} onPick=${set("format")} />`}</${Field}>
            ${options.format === "csv" && html`<${Field} label="Text column" hint="Default: text or body.">
                ${(field) => html`<input ...${field} class="form-control" value=${options.textColumn}
                    onInput=${(event) => set("textColumn")(event.target.value)} />`}</${Field}>`}
            <${Check} label="Replace existing entries" value=${options.replaces}
                onChange=${set("replaces")} />
            <${Check} label="Keep the authors named in the file" value=${options.trustSource}
                onChange=${set("trustSource")} />
            <div class="actions">
                <button class="btn btn-quiet" disabled=${!isReady} onClick=${() => run(true)}>
                    <${Icon} name="eye" /><span>Dry run</span></button>
                <button class="btn btn-primary" disabled=${!isReady} onClick=${() => run(false)}>
                    <${Icon} name="upload" /><span>Import</span></button>
            </div>
            <div role="status">${state && (state.error
                ? html`<${Failed} error=${state.error} />
                ${state.kept > 0 && html`<${Notice} tone="warn" icon="exclamation-triangle">
                    ${plural(state.kept, "entry was", "entries were")} stored before the error. Import again to
                    continue: existing entries are not changed.</${Notice}>`}`
                : html`<${ImportReport} state=${state} />`)}</div>
        </div>
    </${Card}>`;
}

function total(files) {
    return files.reduce((sum, file) => sum + file.size, 0);
}

/** Import the files, or try it in a dry run; `tell` is called with the progress. */
async function importFiles(project, files, options, tell) {
    let report = emptyReport();
    for (const file of files) {
        tell({ ...report, file: file.name, done: 0, total: 0 });
        const { items, broken } = await readFile(project, file, options);
        report = broken.reduce((sum, { place, reason }) => withFault(sum, placeIn(file, files, place), reason), report);
        const wanted = options.replaces ? items : items.filter(({ isKnown }) => !isKnown);
        report = { ...report, found: report.found + items.length, known: report.known + items.length - wanted.length };
        let done = 0;
        for (const batch of batchesOf(wanted)) {
            tell({ ...report, file: file.name, done, total: wanted.length });
            const entries = batch.map(({ entry }) => entry);
            const answer = await api.command(project, "bulkImport", { entries, dryRun: options.dryRun });
            const named = batch.map((item) => ({ ...item, place: placeIn(file, files, item.place) }));
            report = withAnswer(report, named, answer);
            done += batch.length;
        }
    }
    return report;
}

async function readFile(project, file, { format, textColumn, trustSource }) {
    if (file.size > MOST_BYTES) {
        throw new Error(`${file.name} is larger than 64 MB: use memoryctl import on the server.`);
    }
    const columns = format === "csv" && textColumn.trim() ? { text: textColumn.trim() } : {};
    return api.admin("POST", `import/${api.pathOf(project)}`, {
        body: { format, content: await file.text(), name: file.name, columns, trustSource },
    });
}

function placeIn(file, files, place) {
    return files.length > 1 && place !== file.name ? `${file.name}, ${place}` : place;
}
