// The settings of a project: made, or changed.

import * as api from "../api.js";
import { html, useState } from "../view.js";
import { FormDialog } from "./dialog.js";
import { Check, Field, Select } from "./pieces.js";
import { say } from "./toasts.js";

const TOOLSETS = ["core", "lifecycle", "documents", "graph", "analytics", "system", "code", "aiMemory", "serverMemory"];
const SECRETS = [
    ["warn", "Warn: store it and say so"], ["redact", "Redact: store it without the secret"],
    ["refuse", "Refuse the entry"],
];
const FRESH = {
    name: "", description: "", includeShared: true, private: false, toolsets: ["core", "lifecycle"],
    defaultToolsets: ["core"], secrets: "warn", maxEntries: 0, maxMegabytes: 0,
};
const FIELDS = Object.keys(FRESH);

/** Make a project, or change the settings of `project`. */
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
        say(project ? `${project.slug} is changed.` : `${slug} is there. Connect a client to it.`);
        await onDone();
    };
    return html`<${FormDialog} title=${project ? `Settings of ${project.slug}` : "New project"}
        label=${project ? "Save" : "Create project"}
        isWide isReady=${Boolean(project || slug.trim())} submit=${submit} onClose=${onClose}>
        <div class="field-grid">
            ${!project && html`<${Field} label="Slug"
                hint="In addresses and ids; it stays. Letters, digits, - and _.">${(field) => html`
                <input ...${field} class="form-control mono" required autocomplete="off" value=${slug}
                    onInput=${(event) => setSlug(event.target.value)} />`}</${Field}>`}
            <${Field} label="Name">${(field) => html`<input ...${field} class="form-control" value=${settings.name}
                onInput=${(event) => set({ name: event.target.value })} />`}</${Field}>
            <${Field} label="Secrets" hint="What happens to an entry that seems to hold one.">
                ${(field) => html`<${Select} ...${field} label=${undefined}
                value=${settings.secrets} options=${SECRETS} onPick=${(secrets) => set({ secrets })} />`}</${Field}>
            <${Field} label="Description" isWide>
                ${(field) => html`<input ...${field} class="form-control" value=${settings.description}
                onInput=${(event) => set({ description: event.target.value })} />`}</${Field}>
            <${Quota} label="At most entries" value=${settings.maxEntries}
                onInput=${(maxEntries) => set({ maxEntries })} />
            <${Quota} label="At most megabytes" value=${settings.maxMegabytes}
                onInput=${(maxMegabytes) => set({ maxMegabytes })} />
        </div>
        <${Check} label="Searches also read the shared store" value=${settings.includeShared}
            onChange=${(includeShared) => set({ includeShared })} />
        <${Check} label="Private: only users who are listed in it" value=${settings.private}
            onChange=${(given) => set({ private: given })} />
        <${Toolsets} label="Toolsets that a client may ask for" chosen=${settings.toolsets}
            onChange=${(toolsets) => set({ toolsets })} />
        <${Toolsets} label="Toolsets that a client gets by itself" chosen=${settings.defaultToolsets}
            onChange=${(defaultToolsets) => set({ defaultToolsets })} />
    </${FormDialog}>`;
}

function Quota({ label, value, onInput }) {
    return html`<${Field} label=${label} hint="0 is no limit.">
        ${(field) => html`<input ...${field} class="form-control" type="number" min="0" step="1"
        value=${value} onInput=${(event) => onInput(Number(event.target.value))} />`}</${Field}>`;
}

function Toolsets({ label, chosen, onChange }) {
    const toggle = (name, isOn) => onChange(TOOLSETS.filter((one) => (one === name ? isOn : chosen.includes(one))));
    return html`<fieldset><legend class="form-label">${label}</legend><div class="checks">
        ${TOOLSETS.map((name) => html`<${Check} key=${name} label=${name} value=${chosen.includes(name)}
            onChange=${(isOn) => toggle(name, isOn)} />`)}
    </div></fieldset>`;
}
