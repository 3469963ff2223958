// Another name for a project; another slug only while no id carries the old one.

import * as api from "../api.js";
import { plural } from "../formatting.js";
import { html, useState } from "../view.js";
import { FormDialog } from "./dialog.js";
import { Field } from "./pieces.js";
import { say } from "./toasts.js";

export function RenameDialog({ project, version, onClose, onDone }) {
    const [name, setName] = useState(project.settings.name);
    const [slug, setSlug] = useState(project.slug);
    const path = `projects/${api.pathOf(project.slug)}`;
    const entries = project.store?.entries;
    // Of a store that is being opened only the server knows; of one that is closed to whoever asks it tells nothing.
    const isFixed = entries > 0 || !project.isOpen;
    const why = reasonFor(project.isOpen, entries);
    const submit = async () => {
        let ifVersion = version;
        if (name.trim() !== project.settings.name) {
            ifVersion = (await api.admin("PATCH", path,
                { body: { settings: { name: name.trim() }, ifVersion } })).version;
        }
        if (slug.trim() !== project.slug) {
            await api.admin("POST", `${path}/rename`, { body: { to: slug.trim(), ifVersion } });
        }
        say(`It is called ${name.trim() || slug.trim()} now.`);
        await onDone();
    };
    return html`<${FormDialog} title=${`Rename ${project.slug}`} label="Rename" submit=${submit} onClose=${onClose}
        isReady=${slug.trim() !== ""}>
        <${Field} label="Name" hint="What people see. It means nothing to agents.">${(field) => html`<input ...${field}
            class="form-control" value=${name} onInput=${(event) => setName(event.target.value)} />`}</${Field}>
        <${Field} label="Slug" hint=${why}>
            ${(field) => html`<input ...${field} class="form-control mono" autocomplete="off"
            disabled=${isFixed} value=${slug} onInput=${(event) => setSlug(event.target.value)} />`}</${Field}>
    </${FormDialog}>`;
}

function reasonFor(isOpen, entries) {
    if (!isOpen) {
        return "It can be changed as long as the project has no entries. Whether it has any is told only to those "
            + "whom its permissions list: list yourself first.";
    }
    return entries > 0
        ? `It stays: ${plural(entries, "id")} of entries, links to them and agents carry it. Move the entries to a new
            project if it must be another one.`
        : "It can be changed as long as the project has no entries.";
}
