// Creates a project or edits its settings.

import * as api from "../api.js";
import { TOOLSETS } from "../toolsets.js";
import { html, useState } from "../view.js";
import { FormDialog } from "./dialog.js";
import { Check, Field, Select } from "./pieces.js";
import { say } from "./toasts.js";

const SECRETS = [
    ["warn", "Warn: store the entry with a warning"], ["redact", "Redact: store it without the secret"],
    ["refuse", "Refuse the entry"],
];
const FRESH = {
    name: "", description: "", includeShared: true, private: false, toolsets: ["core", "lifecycle"],
    defaultToolsets: ["core"], secrets: "warn", maxEntries: 0, maxMegabytes: 0,
};
const FIELDS = Object.keys(FRESH);

/** Create a project, or edit the settings of `project`. */
export function ProjectDialog({ project, version, onClose, onDone }) {
    const before = { ...FRESH, ...project?.settings };
    const [slug, setSlug] = useState("");
    const [settings, setSettings] = useState(before);
    const set = (change) => setSettings({ ...settings, ...change });
    const submit = async () => {
        const changed = FIELDS.filter((name) => JSON.stringify(settings[name]) !== JSON.stringify(before[name]));
        const given = Object.fromEntries(changed.map((name) => [name, settings[name]]));
        if (project) {
            await api.admin("PATCH", `projects/${api.pathOf(project.slug)}`,
                { body: { settings: given, ifVersion: version } });
        } else {
            await api.admin("POST", "projects", { body: { slug: slug.trim(), settings: given } });
        }
        say(project ? `${project.slug} saved.` : `${slug} created. Connect a client to it.`);
        await onDone();
    };
    return html`<${FormDialog} title=${project ? `Settings of ${project.slug}` : "New project"}
        label=${project ? "Save" : "Create project"}
        isWide isReady=${Boolean(project || slug.trim())} submit=${submit} onClose=${onClose}>
        <div class="field-grid">
            ${!project && html`<${Field} label="Slug"
                hint="Used in URLs and ids; fixed once there are entries. Letters, digits, - and _.">${(field) => html`
                <input ...${field} class="form-control mono" required autocomplete="off" value=${slug}
                    onInput=${(event) => setSlug(event.target.value)} />`}</${Field}>`}
            <${Field} label="Name">${(field) => html`<input ...${field} class="form-control" value=${settings.name}
                onInput=${(event) => set({ name: event.target.value })} />`}</${Field}>
            <${Field} label="Secrets" hint="What to do with an entry that seems to contain one.">
                ${(field) => html`<${Select} ...${field} label=${undefined}
                value=${settings.secrets} options=${SECRETS} onPick=${(secrets) => set({ secrets })} />`}</${Field}>
            <${Field} label="Description" isWide>
                ${(field) => html`<input ...${field} class="form-control" value=${settings.description}
                onInput=${(event) => set({ description: event.target.value })} />`}</${Field}>
            <${Quota} label="Maximum entries" value=${settings.maxEntries}
                onInput=${(maxEntries) => set({ maxEntries })} />
            <${Quota} label="Maximum size (MB)" value=${settings.maxMegabytes}
                onInput=${(maxMegabytes) => set({ maxMegabytes })} />
        </div>
        <${Check} label="Include the shared store in searches" value=${settings.includeShared}
            onChange=${(includeShared) => set({ includeShared })} />
        <${Check} label="Private: only listed users have access" value=${settings.private}
            onChange=${(given) => set({ private: given })} />
        <${Toolsets} label="Allowed toolsets" hint="The tools that agents of this project may ask for."
            chosen=${settings.toolsets} onChange=${(toolsets) => set({ toolsets })} />
        <${Toolsets} label="Default toolsets" isShort
            hint="What an agent gets that asks for none. Fewer tools leave an agent more room for its work."
            chosen=${settings.defaultToolsets} onChange=${(defaultToolsets) => set({ defaultToolsets })} />
    </${FormDialog}>`;
}

function Quota({ label, value, onInput }) {
    return html`<${Field} label=${label} hint="0 = unlimited.">
        ${(field) => html`<input ...${field} class="form-control" type="number" min="0" step="1"
        value=${value} onInput=${(event) => onInput(Number(event.target.value))} />`}</${Field}>`;
}

function Toolsets({ label, hint, isShort, chosen, onChange }) {
    const names = Object.keys(TOOLSETS);
    const toggle = (name, isOn) => onChange(names.filter((one) => (one === name ? isOn : chosen.includes(one))));
    return html`<fieldset><legend class="form-label">${label}</legend>
        <p class="form-text mt-0 mb-2">${hint}</p>
        <div class=${isShort ? "checks" : "stack-sm"}>
        ${names.map((name) => html`<${Check} key=${name} label=${name} hint=${isShort ? undefined : TOOLSETS[name]}
            value=${chosen.includes(name)} onChange=${(isOn) => toggle(name, isOn)} />`)}
    </div></fieldset>`;
}
