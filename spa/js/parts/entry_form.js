// The form of an entry: the fields of its kind, then the common fields.

import { bodyFieldsOf, kindsOf } from "../entry_schema.js";
import { fromLocalInput, toLocalInput, words } from "../formatting.js";
import { parseJson } from "../json_places.js";
import { tierIn } from "../session.js";
import { maySet } from "../tiers.js";
import { html, useState } from "../view.js";
import { Field, Select, TagField } from "./pieces.js";

const RETENTIONS = [["long", "Forever"], ["mid", "A week"], ["short", "A few hours"]];
const CURATION = ["provisional", "curated", "canonical"].map((one) => [one, words(one)]);

export function EntryForm({ schema, project, draft, isNew, faults, onChange }) {
    const tier = tierIn(project);
    const set = (name) => (value) => onChange({ ...draft, [name]: value });
    const setBody = (name) => (value) => onChange({ ...draft, body: { ...draft.body, [name]: value } });
    const faultAt = (...path) => faults.find((fault) => path.every((key, at) => fault.path[at] === key))?.message;
    const input = (name, label, options = {}) => html`<${Field} label=${label} error=${faultAt(name)}
        hint=${options.hint} isWide=${options.isWide}>
        ${(field) => html`<${Control} field=${field} type=${options.type ?? "text"} value=${draft[name]}
            error=${faultAt(name)}
            onChange=${set(name)} placeholder=${options.placeholder} />`}
    </${Field}>`;
    return html`<div class="stack">
        <div class="field-grid">
            <${Field} label="Kind" error=${faultAt("kind")}>
                ${(field) => html`<${Select} ...${field} label=${undefined} value=${draft.kind}
                options=${kindsOf(schema).map((kind) => [kind, words(kind)])} disabled=${!isNew}
                onPick=${(kind) => onChange({ ...draft, kind, body: {} })} />`}</${Field}>
            ${input("title", "Title", { isWide: true, placeholder: "Default: start of the text" })}
            ${bodyFieldsOf(schema, draft.kind).map(({ name, type, isRequired, isLong }) => html`<${Field}
                key=${`${draft.kind}.${name}`}
                label=${isRequired ? words(name) : `${words(name)} (optional)`}
                    isWide=${isLong || type === "lines" || type === "json"}
                hint=${HINTS[type]} error=${faultAt("body", name)}>
                ${(field) => html`<${Control} field=${field} type=${isLong && type === "text" ? "long" : type}
                    isCode=${name === "snippet"}
                    value=${draft.body?.[name]} error=${faultAt("body", name)} onChange=${setBody(name)} />`}
            </${Field}>`)}
        </div>
        <div class="field-grid">
            <${Field} label="Tags" error=${faultAt("tags")} isWide>${(field) => html`<${TagField} ...${field}
                values=${draft.tags ?? []} onChange=${set("tags")} />`}</${Field}>
            <${Field} label="Keywords" error=${faultAt("keywords")} isWide>
                ${(field) => html`<${TagField} ...${field} values=${draft.keywords ?? []}
                onChange=${set("keywords")} />`}</${Field}>
            ${input("priority", "Priority, 1 to 10", { type: "integer" })}
            ${input("confidence", "Confidence, 0 to 1", { type: "number" })}
            <${Field} label="Retention" error=${faultAt("retention")}>
                ${(field) => html`<${Select} ...${field} label=${undefined} value=${draft.retention ?? "long"}
                options=${RETENTIONS} onPick=${(retention) => onChange({ ...draft, retention,
                    ttlUtc: undefined })} />`}</${Field}>
            ${input("ttlUtc", "Expires at", { type: "date", hint: "Overrides the retention" })}
            ${input("namespace", "Namespace")}
            ${input("epicSlug", "Epic")}
            ${input("epicCase", "Epic case")}
            ${input("agentId", "Agent")}
            ${maySet(tier, "curationTier") && html`<${Field} label="Trust" error=${faultAt("curationTier")}>
                ${(field) => html`<${Select} ...${field} label=${undefined}
                value=${draft.curationTier ?? "provisional"} options=${CURATION}
                    onPick=${set("curationTier")} />`}</${Field}>`}
            ${maySet(tier, "pinned") && html`<${Check} label="Pinned: always shown to agents first" isOn=${draft.pinned}
                onChange=${set("pinned")} />`}
            ${maySet(tier, "isPermanent") && html`<${Check} label="Permanent: never expires"
                isOn=${draft.isPermanent} onChange=${set("isPermanent")} />`}
            ${input("source", "Source", { type: "json", isWide: true,
                hint: "JSON, such as {\"type\": \"doc\", \"path\": \"docs/spec.md\"}" })}
            ${input("metadata", "Metadata", { type: "json", isWide: true, hint: "JSON with any keys" })}
        </div>
    </div>`;
}

const HINTS = { lines: "One per line", json: "JSON" };

function Control({ field, type, value, error, isCode, onChange, placeholder }) {
    const look = { ...field, class: `form-control ${error ? "invalid" : ""} ${isCode ? "code" : ""}`, placeholder };
    const text = (event) => event.target.value;
    switch (type) {
        case "long":
            return html`<textarea ...${look} rows=${isCode ? 8 : 4} value=${value ?? ""}
                onInput=${(event) => onChange(text(event))}></textarea>`;
        case "lines":
            return html`<textarea ...${look} rows="4" value=${(value ?? []).join("\n")}
                onInput=${(event) => onChange(text(event) === "" ? [] : text(event).split("\n"))}></textarea>`;
        case "integer": case "number":
            return html`<input ...${look} type="number" step=${type === "integer" ? 1 : "any"} value=${value ?? ""}
                onInput=${(event) => onChange(text(event) === "" ? undefined : Number(text(event)))} />`;
        case "date":
            return html`<input ...${look} type="datetime-local" step="1" value=${toLocalInput(value)}
                onInput=${(event) => onChange(fromLocalInput(text(event)) ?? undefined)} />`;
        case "yesNo":
            return html`<${Select} ...${field} label=${undefined} value=${value === undefined ? "" : String(value)}
                options=${[["", "Not set"], ["true", "Yes"], ["false", "No"]]}
                onPick=${(picked) => onChange(picked === "" ? undefined : picked === "true")} />`;
        case "value":
            return html`<input ...${look} value=${value ?? ""} onInput=${(event) => onChange(valueOf(text(event)))} />`;
        case "json":
            return html`<${JsonControl} look=${look} value=${value} onChange=${onChange} />`;
        default:
            return html`<input ...${look} value=${value ?? ""} onInput=${(event) => onChange(text(event))} />`;
    }
}

function JsonControl({ look, value, onChange }) {
    const [text, setText] = useState(() => (isNothing(value) ? "" : JSON.stringify(value, null, 2)));
    const onInput = (event) => {
        setText(event.target.value);
        const parsed = parseJson(event.target.value);
        onChange(event.target.value.trim() === "" ? undefined : parsed.fault ? event.target.value : parsed.value);
    };
    return html`<textarea ...${look} class=${`${look.class} code`} rows="2" spellcheck="false" value=${text}
        onInput=${onInput}></textarea>`;
}

function Check({ label, isOn, onChange }) {
    return html`<label class="form-check align-self-end">
        <input class="form-check-input" type="checkbox" checked=${isOn === true}
            onChange=${(event) => onChange(event.target.checked)} />
        <span class="form-check-label">${label}</span>
    </label>`;
}

function isNothing(value) {
    return value === undefined || value === null || (typeof value === "object" && Object.keys(value).length === 0);
}

/** Parse numbers and booleans; anything else is text. */
function valueOf(text) {
    const { value } = parseJson(text);
    return ["number", "boolean"].includes(typeof value) ? value : text;
}
