// Going back to a backup or to a moment, with what that changes shown before.

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

/** Bring a project back to one of its backups. */
export function RestoreDialog({ backup: { project, id }, onClose, onDone }) {
    return html`<${Restore} title=${`Bring ${project} back to ${id}?`} project=${project} target=${{ id }}
        onClose=${onClose} onDone=${onDone} />`;
}

/** Bring a project back to any moment that its backups reach. */
export function MomentDialog({ projects, project: given, onClose, onDone }) {
    const [project, setProject] = useState(given || projects[0]?.slug);
    const [at, setAt] = useState(() => toLocalInput(new Date().toISOString()));
    const target = { at: fromLocalInput(at) };
    return html`<${Restore} title="Restore to a moment" project=${project} target=${target} onClose=${onClose}
        onDone=${onDone}>
        <div class="field-grid">
            <${Field} label="Project">${(field) => html`<${Select} ...${field} label=${undefined} value=${project}
                options=${projects.map(({ slug, name }) => [slug, name])} onPick=${setProject} />`}</${Field}>
            <${Field} label="As it was at">
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
        say(`${project} is as it was then.${keptAs ? ` What was there is kept as ${keptAs}.` : ""}`);
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
            Not every write up to then is known: it is as near as the backups
            reach${at ? ` to ${moment(at)}` : ""}.</${Notice}>`}
        ${changesIn(found) === 0 && html`<p class="mb-0">Nothing would change.</p>`}
        <${Changes} number=${added} verbs=${["comes back", "come back"]}
            samples=${of(({ before }) => before === null)} />
        <${Changes} number=${changed} verbs=${["becomes what it was", "become what they were"]}
            samples=${of(({ before, after }) => before && after)} />
        <${Changes} number=${removed} verbs=${["leaves, as it was not there yet", "leave, as they were not there yet"]}
            samples=${of(({ after }) => after === null)} />
        ${unreadable > 0 && html`<${Notice} tone="warn">
            ${plural(unreadable, "line")} of the backup cannot be read and stays there.</${Notice}>`}
        <p class="small text-soft mb-0">What is there now is kept as a backup of its own first.</p>
    </div>`;
}

function Changes({ number, verbs: [one, many], samples }) {
    return number > 0 && html`<section aria-label=${one}>
        <strong>${plural(number, "entry", "entries")}</strong> ${number === 1 ? one : many}.
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
