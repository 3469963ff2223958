// Projects: what each one holds, who may do what there, and how a client is connected to it.

import * as api from "../api.js";
import { count, size } from "../formatting.js";
import { useLoaded } from "../loading.js";
import { hrefOf } from "../router.js";
import { isAdmin, projects, refresh } from "../session.js";
import { html, useState } from "../view.js";
import { ConnectDialog } from "../parts/connect_dialog.js";
import { FormDialog } from "../parts/dialog.js";
import { Icon } from "../parts/icon.js";
import { AccessChip, Card, Field, PageHead } from "../parts/pieces.js";
import { ProjectDialog } from "../parts/project_dialog.js";
import { Empty, Loaded } from "../parts/states.js";
import { say } from "../parts/toasts.js";

export function Projects() {
    const [dialog, setDialog] = useState(null);
    const loaded = useLoaded(() => (isAdmin.value ? api.admin("GET", "projects") : ownProjects()), []);
    const changed = async () => {
        await refresh();
        loaded.reload();
    };
    return html`<${PageHead} title="Projects" about="Each has a store, a wall around it, and an address for agents.">
        ${isAdmin.value && html`<button class="btn btn-primary" onClick=${() => setDialog({ isNew: true })}>
            <${Icon} name="plus-lg" /><span>New project</span></button>`}
    </${PageHead}>
    <${Loaded} from=${loaded} what="Loading projects">${({ items, version }) => (items.length === 0
        ? html`<${Card} isFlush><${Empty} icon="lock" title="No project is open to you"><p>Ask an admin to list you in one.</p></${Empty}></${Card}>`
        : html`<div class="cards">${items.map((project) => html`<${Project} key=${project.slug} project=${project} open=${setDialog} />`)}</div>
        ${dialog?.isNew && html`<${ProjectDialog} onClose=${() => setDialog(null)} onDone=${changed} />`}
        ${dialog?.edits && html`<${ProjectDialog} project=${dialog.edits} version=${version} onClose=${() => setDialog(null)} onDone=${changed} />`}
        ${dialog?.removes && html`<${Removal} project=${dialog.removes} version=${version} onClose=${() => setDialog(null)} onDone=${changed} />`}
        ${dialog?.connects && html`<${ConnectDialog} project=${dialog.connects.slug} onClose=${() => setDialog(null)} />`}`)}
    </${Loaded}>`;
}

/** Return what somebody who is no admin sees: the projects that are open, with the tier there. */
function ownProjects() {
    return { items: projects.value.map(({ slug, name, tier }) => ({ slug, tier, isOpen: true, settings: { name } })) };
}

function Project({ project, open }) {
    const { slug, settings, isOpen } = project;
    const title = settings.name || slug;
    return html`<section class="card-box" aria-label=${title}>
        <div class="card-head">
            <div class="card-head-text"><h2>${isOpen ? html`<a href=${hrefOf("entries", [slug])}>${title}</a>` : title}</h2>
                <code class="text-soft">${slug}</code></div>
            <button class="btn btn-quiet btn-sm" onClick=${() => open({ connects: project })}><${Icon} name="plug" /><span>Connect</span></button>
            ${isAdmin.value && html`<button class="btn btn-quiet btn-sm" aria-label=${`Edit ${slug}`} onClick=${() => open({ edits: project })}><${Icon} name="pencil" /></button>
            <button class="btn btn-danger-quiet btn-sm" aria-label=${`Remove ${slug}`} onClick=${() => open({ removes: project })}><${Icon} name="trash3" /></button>`}
        </div>
        <div class="card-in stack-sm">
            ${settings.description && html`<p class="mb-0">${settings.description}</p>`}
            <div class="actions">
                ${project.tier && html`<${AccessChip} tier=${project.tier} />`}
                ${settings.private && html`<span class="chip warn"><${Icon} name="lock" />private</span>`}
                ${settings.includeShared && slug !== "shared" && html`<span class="chip">reads shared</span>`}
                ${(settings.toolsets ?? []).map((one) => html`<span class="chip" key=${one}>${one}</span>`)}
            </div>
            ${isAdmin.value && html`<${Figures} project=${project} />`}
        </div>
    </section>`;
}

function Figures({ project: { store, isOpen, permissions, settings } }) {
    const listed = Object.entries(permissions);
    const most = [
        settings.maxEntries > 0 && `${count(settings.maxEntries)} entries`,
        settings.maxMegabytes > 0 && `${count(settings.maxMegabytes)} MB`,
    ].filter(Boolean).join(", ");
    return html`<dl class="facts">
        <dt>Holds</dt><dd>${store ? `${count(store.entries)} entries, ${size(store.bytes)}` : isOpen ? "not loaded yet" : "closed to you"}</dd>
        <dt>At most</dt><dd>${most || "no quota"}</dd>
        <dt>Secrets</dt><dd>${settings.secrets}</dd>
        <dt>Listed</dt><dd>${listed.length
            ? html`<div class="actions">${listed.map(([user, tier]) => html`<span class="chip" key=${user}>${user}: ${tier}</span>`)}</div>`
            : settings.private ? "nobody" : "nobody: everyone has the tier of their own"}</dd>
    </dl>`;
}

function Removal({ project: { slug }, version, onClose, onDone }) {
    const [typed, setTyped] = useState("");
    const submit = async () => {
        const query = { confirm: typed, ifVersion: version };
        const { keptIn } = await api.admin("DELETE", `projects/${api.pathOf(slug)}`, { query });
        say(keptIn ? `${slug} is gone. Its files are kept in ${keptIn}.` : `${slug} is gone.`);
        await onDone();
    };
    return html`<${FormDialog} title=${`Remove ${slug}?`} label="Remove project" isDangerous isReady=${typed === slug} submit=${submit} onClose=${onClose}>
        <p class="mb-0">No client reaches it any more. Its files are not deleted: they move into the folder of backups.</p>
        <${Field} label=${`Type ${slug} to confirm`}>${(field) => html`<input ...${field} class="form-control mono" autocomplete="off"
            value=${typed} onInput=${(event) => setTyped(event.target.value)} />`}</${Field}>
    </${FormDialog}>`;
}
