// The settings that are changed most, as a form over the text of the configuration.

import { readField, writeField } from "../toml_fields.js";
import { html } from "../view.js";
import { Card, Check, Field, Select } from "./pieces.js";

const LEVELS = ["debug", "info", "warning", "error"];
const MODES = ["differential", "full"];
/** Groups of `[section, key, label, type, default, hint]`; a type is a list of choices, `number`, `text` or `yesNo`. */
const GROUPS = [
    ["Server", [
        ["global", "serviceName", "Name", "text", "QuickMemoryServer", "Shown to clients."],
        ["global", "behindProxy", "Behind a reverse proxy", "yesNo", false],
        ["global.rate", "requestsPerMinute", "Requests per minute and key", "number", 6000, "0 = unlimited."],
    ]],
    ["Log", [
        ["global", "logLevel", "Level", LEVELS, "info"],
        ["global", "logMaxMegabytes", "Size of a file (MB)", "number", 20],
        ["global", "logMaxDays", "Days to keep", "number", 30],
        ["global", "logKeep", "Files to keep", "number", 5],
    ]],
    ["Backups", [
        ["global.backup", "cadence", "When", "text", "0 3 * * *", "Cron: minute, hour, day, month, day of week."],
        ["global.backup", "timeZone", "Time zone", "text", "local", "local, or a name such as Europe/Berlin."],
        ["global.backup", "mode", "Mode", MODES, "differential"],
        ["global.backup", "keep", "Backups to keep", "number", 14],
    ]],
    ["Models", [
        ["global.embedding", "model", "Embedding model", "text", "models/embeddings.onnx", "hash = by keyword alone."],
        ["global.reranker", "model", "Reranker", "text", "", "Empty = none."],
    ]],
];

/** Edit settings in `text`; `error`, with the line that the server names, is shown at its field. */
export function SettingsForm({ text, error, onInput }) {
    return html`<div class="stack">${GROUPS.map(([title, fields]) => html`<${Card} key=${title} title=${title}>
        <div class="field-grid">${fields.map((field) => html`<${Setting} key=${field.slice(0, 2).join(".")}
            field=${field} text=${text} error=${error} onInput=${onInput} />`)}</div></${Card}>`)}</div>`;
}

function Setting({ field: [section, key, label, type, standard, hint], text, error, onInput }) {
    const { value, line, isComplex } = readField(text, section, key);
    const set = (given) => onInput(writeField(text, section, key, given));
    const fault = line && error?.line === line ? error.reason : "";
    if (type === "yesNo") {
        return html`<${Check} label=${label} value=${value ?? standard} onChange=${set} />`;
    }
    const usual = value === undefined ? "" : `Default: ${standard || "empty"}.`;
    const note = isComplex ? "Edit it in the file." : [hint, usual].filter(Boolean).join(" ");
    return html`<${Field} label=${label} hint=${note} error=${fault}>${(attributes) => (Array.isArray(type)
        ? html`<${Select} ...${attributes} label=${undefined} value=${value ?? standard} disabled=${isComplex}
            options=${type.map((one) => [one, one])} onPick=${set} />`
        : html`<input ...${attributes} class=${`form-control ${fault ? "invalid" : ""}`} disabled=${isComplex}
            type=${type} value=${value ?? ""} placeholder=${String(standard)}
            onInput=${(event) => set(givenOf(event.target, type))} />`)}</${Field}>`;
}

/** Return what was typed; an empty field means the default. */
function givenOf({ value }, type) {
    if (value === "") {
        return undefined;
    }
    return type === "number" ? Number(value) : value;
}
