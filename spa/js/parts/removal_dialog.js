// Removes a project after its slug was typed; its files move to the backup folder.

import * as api from "../api.js";
import { html, useState } from "../view.js";
import { FormDialog } from "./dialog.js";
import { Field } from "./pieces.js";
import { say } from "./toasts.js";

export function RemovalDialog({ project: { slug }, version, onClose, onDone }) {
    const [typed, setTyped] = useState("");
    const submit = async () => {
        const query = { confirm: typed, ifVersion: version };
        const { keptIn } = await api.admin("DELETE", `projects/${api.pathOf(slug)}`, { query });
        say(keptIn ? `${slug} removed. Its files are kept in ${keptIn}.` : `${slug} removed.`);
        await onDone();
    };
    return html`<${FormDialog} title=${`Remove ${slug}?`} label="Remove project" isDangerous isReady=${typed === slug}
        submit=${submit} onClose=${onClose}>
        <p class="mb-0">Clients lose access to it. Its files are not deleted: they move to the backup folder.</p>
        <${Field} label=${`Type ${slug} to confirm`}>${(field) => html`<input ...${field} class="form-control mono"
            autocomplete="off" value=${typed} onInput=${(event) => setTyped(event.target.value)} />`}</${Field}>
    </${FormDialog}>`;
}
