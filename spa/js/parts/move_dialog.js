// Moves or copies an entry to another project.

import * as api from "../api.js";
import { projectOf } from "../formatting.js";
import { projects } from "../session.js";
import { isAtLeast } from "../tiers.js";
import { html, useState } from "../view.js";
import { FormDialog } from "./dialog.js";
import { Check, Field, Select } from "./pieces.js";
import { say } from "./toasts.js";

/** Return the projects that an entry can be moved to. */
export function placesFor(entry) {
    return projects.value.filter(({ slug, tier }) => slug !== projectOf(entry.id) && isAtLeast(tier, "writer"));
}

export function MoveDialog({ entry, version, onClose, onMoved }) {
    const places = placesFor(entry);
    const [toProject, setProject] = useState(places[0].slug);
    const [isCopy, setCopy] = useState(false);
    const submit = async () => {
        const request = { id: entry.id, toProject, ...(!isCopy && { ifVersion: version }) };
        await api.command(projectOf(entry.id), isCopy ? "copyEntry" : "moveEntry", request);
        say(`${isCopy ? "Copied" : "Moved"} to ${toProject}.`);
        if (!isCopy) {
            onMoved();
        }
    };
    return html`<${FormDialog} title="Move to another project" label=${isCopy ? "Copy" : "Move"} submit=${submit}
        onClose=${onClose}>
        <${Field} label="To">
            ${(field) => html`<${Select} ...${field} label=${undefined} value=${toProject} onPick=${setProject}
            options=${places.map(({ slug, name }) => [slug, name])} />`}</${Field}>
        <${Check} label="Copy instead of move" value=${isCopy} onChange=${setCopy} />
    </${FormDialog}>`;
}
