// Going back to a backup, with what that changes said before; and taking old ones away.

import * as api from "../api.js";
import { plural } from "../formatting.js";
import { useLoaded } from "../loading.js";
import { html, useState } from "../view.js";
import { FormDialog } from "./dialog.js";
import { Field } from "./pieces.js";
import { Loaded, Notice } from "./states.js";
import { say } from "./toasts.js";

const SHOWN = 8;

export function RestoreDialog({ backup: { project, id }, onClose, onDone }) {
    const ask = (body) => api.admin("POST", `backups/${api.pathOf(project)}/restore`, { body: { id, ...body } });
    const dry = useLoaded(() => ask({ dryRun: true }), [project, id]);
    const submit = async () => {
        const { keptAs } = await ask({ ifVersion: dry.data.version });
        say(`${project} is as it was then.${keptAs ? ` What was there is kept as ${keptAs}.` : ""}`);
        onDone();
    };
    return html`<${FormDialog} title=${`Bring ${project} back to ${id}?`} label="Restore" isDangerous isWide isReady=${dry.data !== null} submit=${submit} onClose=${onClose}>
        <${Loaded} from=${dry} what="Comparing">${(found) => html`<div class="stack-sm">
            <${Changes} mark="+" className="added" number=${found.added} ids=${found.addedIds} what="comes back" />
            <${Changes} mark="~" className="" number=${found.changed} ids=${found.changedIds} what="becomes what it was" />
            <${Changes} mark="-" className="removed" number=${found.removed} ids=${found.removedIds} what="leaves, as it was not there yet" />
            ${found.unreadable > 0 && html`<${Notice} tone="warn">${plural(found.unreadable, "line")} of the backup cannot be read and stays there.</${Notice}>`}
            <p class="small text-soft mb-0">What is there now is kept as a backup of its own first.</p>
        </div>`}</${Loaded}>
    </${FormDialog}>`;
}

function Changes({ mark, className, number, ids, what }) {
    return html`<div><strong>${plural(number, "entry", "entries")}</strong> ${what}.
        ${number > 0 && html`<pre class="diff mt-1" tabindex="0" aria-label=${what}>${ids.slice(0, SHOWN).map((one) => html`<span class=${className}>${mark} ${one}</span>`)}
            ${number > SHOWN && html`<span>and ${number - Math.min(SHOWN, ids.length)} more</span>`}</pre>`}
    </div>`;
}

export function PruneDialog({ project, onClose, onDone }) {
    const [keep, setKeep] = useState(14);
    const ask = (dryRun) => api.admin("POST", "backups/prune", { body: { project: project || undefined, keep, dryRun } });
    const dry = useLoaded(async () => total(await ask(true)), [keep]);
    const submit = async () => {
        say(`${plural(total(await ask(false)), "backup")} taken away.`);
        onDone();
    };
    return html`<${FormDialog} title=${`Take away old backups of ${project || "all projects"}?`} label="Prune" isDangerous isReady=${dry.data > 0 && !dry.isLoading} submit=${submit} onClose=${onClose}>
        <${Field} label="Keep so many" hint="Of each project, with everything that they need.">${(field) => html`<input ...${field} class="form-control" type="number"
            min="1" max="10000" value=${keep} onInput=${(event) => setKeep(Math.max(1, Number(event.target.value)))} />`}</${Field}>
        <p class="mb-0" role="status">${dry.data === null || dry.isLoading ? "Counting…" : `${plural(dry.data, "backup")} would go.`}</p>
    </${FormDialog}>`;
}

function total({ pruned }) {
    return Object.values(pruned).reduce((sum, ids) => sum + ids.length, 0);
}
