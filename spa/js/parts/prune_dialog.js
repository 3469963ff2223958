// Deletes old backups, after a preview of how many.

import * as api from "../api.js";
import { plural } from "../formatting.js";
import { useLoaded } from "../loading.js";
import { html, useState } from "../view.js";
import { FormDialog } from "./dialog.js";
import { Field } from "./pieces.js";
import { say } from "./toasts.js";

export function PruneDialog({ project, usual = 14, onClose, onDone }) {
    const [keep, setKeep] = useState(usual);
    const ask = (dryRun) => api.admin("POST", "backups/prune",
        { body: { project: project || undefined, keep, dryRun } });
    const dry = useLoaded(async () => total(await ask(true)), [keep]);
    const submit = async () => {
        say(`${plural(total(await ask(false)), "backup")} deleted.`);
        onDone();
    };
    return html`<${FormDialog} title=${`Delete old backups of ${project || "all projects"}?`} label="Prune"
        isDangerous isReady=${dry.data > 0 && !dry.isLoading} submit=${submit} onClose=${onClose}>
        <${Field} label="Backups to keep" hint="Per project; backups that these need are kept too.">
            ${(field) => html`<input ...${field} class="form-control" type="number"
            min="1" max="10000" value=${keep}
                onInput=${(event) => setKeep(Math.max(1, Number(event.target.value)))} />`}</${Field}>
        <p class="mb-0" role="status">
            ${dry.data === null || dry.isLoading ? "Counting…" : `${plural(dry.data, "backup")} will be deleted.`}</p>
    </${FormDialog}>`;
}

function total({ pruned }) {
    return Object.values(pruned).reduce((sum, ids) => sum + ids.length, 0);
}
