// Renames a project; its slug can change only while it has no entries.

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
    // While a store is loading only the server knows; without access to the project the count is not told.
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
        say(`Renamed to ${name.trim() || slug.trim()}.`);
        await onDone();
    };
    return html`<${FormDialog} title=${`Rename ${project.slug}`} label="Rename" submit=${submit} onClose=${onClose}
        isReady=${slug.trim() !== ""}>
        <${Field} label="Name" hint="Display name; agents do not use it.">${(field) => html`<input ...${field}
            class="form-control" value=${name} onInput=${(event) => setName(event.target.value)} />`}</${Field}>
        <${Field} label="Slug" hint=${why}>
            ${(field) => html`<input ...${field} class="form-control mono" autocomplete="off"
            disabled=${isFixed} value=${slug} onInput=${(event) => setSlug(event.target.value)} />`}</${Field}>
    </${FormDialog}>`;
}

function reasonFor(isOpen, entries) {
    if (!isOpen) {
        return "It can be changed only while the project has no entries. You have no access to see that: add yourself "
            + "to its permissions first.";
    }
    return entries > 0
        ? `Cannot be changed: it is part of ${plural(entries, "entry id")}. To change it, move the entries to a new
            project.`
        : "It can be changed only while the project has no entries.";
}
