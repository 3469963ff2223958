// Restores a project to a backup or a point in time, after a preview of the changes.

import * as api from "../api.js";
import { fromLocalInput, moment, plural, toLocalInput } from "../formatting.js";
import { diffLines } from "../line_diff.js";
import { useLoaded } from "../loading.js";
import { html, useState } from "../view.js";
import { Diff } from "./diff.js";
import { FormDialog } from "./dialog.js";
import { Field, Select } from "./pieces.js";
import { Loaded, Notice } from "./states.js";
import { say } from "./toasts.js";

/** Restore a project to one of its backups. */
export function RestoreDialog({ backup: { project, id }, onClose, onDone }) {
    return html`<${Restore} title=${`Restore ${project} to ${id}?`} project=${project} target=${{ id }}
        onClose=${onClose} onDone=${onDone} />`;
}

/** Restore a project to any point in time that its backups cover. */
export function MomentDialog({ projects, project: given, onClose, onDone }) {
    const [project, setProject] = useState(given || projects[0]?.slug);
    const [at, setAt] = useState(() => toLocalInput(new Date().toISOString()));
    const target = { at: fromLocalInput(at) };
    return html`<${Restore} title="Restore to a point in time" project=${project} target=${target} onClose=${onClose}
        onDone=${onDone}>
        <div class="field-grid">
            <${Field} label="Project">${(field) => html`<${Select} ...${field} label=${undefined} value=${project}
                options=${projects.map(({ slug, name }) => [slug, name])} onPick=${setProject} />`}</${Field}>
            <${Field} label="Time">
                ${(field) => html`<input ...${field} class="form-control" type="datetime-local"
                step="1" required value=${at} onInput=${(event) => setAt(event.target.value)} />`}</${Field}>
        </div>
    </${Restore}>`;
}

function Restore({ title, project, target, onClose, onDone, children }) {
    const ask = (body) => api.admin("POST", `backups/${api.pathOf(project)}/restore`, { body: { ...target, ...body } });
    const isComplete = Boolean(target.id || target.at);
    const dry = useLoaded(() => (isComplete ? ask({ dryRun: true }) : null), [project, target.id, target.at]);
    const submit = async () => {
        const { keptAs } = await ask({ ifVersion: dry.data.version });
        say(`${project} restored.${keptAs ? ` The previous state is backup ${keptAs}.` : ""}`);
        onDone();
    };
    return html`<${FormDialog} title=${title} label="Restore" isDangerous isWide submit=${submit} onClose=${onClose}
        isReady=${changesIn(dry.data) > 0 && !dry.isLoading}>
        ${children}
        ${isComplete && html`<${Loaded} from=${dry} what="Comparing">${(found) => html`<${Outcome} found=${found}
            at=${target.at} />`}</${Loaded}>`}
    </${FormDialog}>`;
}

function changesIn(found) {
    return found ? found.added + found.changed + found.removed : 0;
}

function Outcome({ found, at }) {
    const { added, changed, removed, unreadable, exact, samples } = found;
    const of = (test) => samples.filter(test);
    return html`<div class="stack-sm">
        ${!exact && html`<${Notice} tone="warn" icon="exclamation-triangle">
            Some writes before${at ? ` ${moment(at)}` : " that time"} are unknown: this is the nearest earlier state.
        </${Notice}>`}
        ${changesIn(found) === 0 && html`<p class="mb-0">No changes.</p>`}
        <${Changes} number=${added} what="will be restored"
            samples=${of(({ before }) => before === null)} />
        <${Changes} number=${changed} what="will be reverted"
            samples=${of(({ before, after }) => before && after)} />
        <${Changes} number=${removed} what="will be removed (did not exist yet)"
            samples=${of(({ after }) => after === null)} />
        ${unreadable > 0 && html`<${Notice} tone="warn">
            ${plural(unreadable, "unreadable line stays", "unreadable lines stay")} in the backup only.</${Notice}>`}
        <p class="small text-soft mb-0">The current state is backed up first.</p>
    </div>`;
}

function Changes({ number, what, samples }) {
    return number > 0 && html`<section aria-label=${what}>
        <strong>${plural(number, "entry", "entries")}</strong> ${what}.
        ${samples.map(({ id, before, after }) => html`<details key=${id}>
            <summary>${(after ?? before).title} <code class="text-soft">${id}</code></summary>
            <${Diff} label=${`Changes of ${id}`} lines=${diffLines(textOf(before), textOf(after))} />
        </details>`)}
        ${number > samples.length && html`<div class="small text-soft">and ${number - samples.length} more</div>`}
    </section>`;
}

function textOf(entry) {
    return entry === null ? "" : JSON.stringify(entry, null, 2);
}
