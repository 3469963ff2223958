// Projects: what each one holds, who may do what there, and how a client is connected to it.

import * as api from "../api.js";
import { useLoaded } from "../loading.js";
import { isAdmin, projects, refresh } from "../session.js";
import { html, useState } from "../view.js";
import { ConnectDialog } from "../parts/connect_dialog.js";
import { Icon } from "../parts/icon.js";
import { PermissionsDialog } from "../parts/permissions_dialog.js";
import { Card, PageHead } from "../parts/pieces.js";
import { ProjectCard } from "../parts/project_card.js";
import { ProjectDialog } from "../parts/project_dialog.js";
import { RemovalDialog } from "../parts/removal_dialog.js";
import { RenameDialog } from "../parts/rename_dialog.js";
import { Empty, Loaded } from "../parts/states.js";

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
        ? html`<${Card} isFlush><${Empty} icon="lock" title="No project is open to you">
            <p>Ask an admin to list you in one.</p></${Empty}></${Card}>`
        : html`<div class="cards">${items.map((project) => html`<${ProjectCard} key=${project.slug} project=${project}
            open=${setDialog} />`)}</div>
        <${Dialogs} dialog=${dialog} version=${version} onClose=${() => setDialog(null)} onDone=${changed} />`)}
    </${Loaded}>`;
}

/** Return what somebody who is no admin sees: the projects that are open, with the tier there. */
function ownProjects() {
    return { items: projects.value.map(({ slug, name, tier }) => ({ slug, tier, isOpen: true, settings: { name } })) };
}

function Dialogs({ dialog, version, onClose, onDone }) {
    const shared = { version, onClose, onDone };
    return html`
        ${dialog?.isNew && html`<${ProjectDialog} ...${shared} />`}
        ${dialog?.edits && html`<${ProjectDialog} project=${dialog.edits} ...${shared} />`}
        ${dialog?.lists && html`<${PermissionsDialog} project=${dialog.lists} ...${shared} />`}
        ${dialog?.renames && html`<${RenameDialog} project=${dialog.renames} ...${shared} />`}
        ${dialog?.removes && html`<${RemovalDialog} project=${dialog.removes} ...${shared} />`}
        ${dialog?.connects && html`<${ConnectDialog} project=${dialog.connects.slug} onClose=${onClose} />`}`;
}
