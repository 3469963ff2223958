// Projects: their settings, permissions and clients.

import * as api from "../api.js";
import { useLoaded } from "../loading.js";
import { place, setQuery } from "../router.js";
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
    const { query } = place.value;
    const [opened, setDialog] = useState(null);
    const dialog = opened ?? dialogOf(query);
    const close = () => {
        setDialog(null);
        setQuery({ connect: "", new: "" }, { replace: true });
    };
    const loaded = useLoaded(() => (isAdmin.value ? api.admin("GET", "projects") : ownProjects()), []);
    const changed = async () => {
        await refresh();
        loaded.reload();
    };
    return html`<${PageHead} title="Projects" about="Each project has its own store, permissions and MCP endpoint.">
        ${isAdmin.value && html`<button class="btn btn-primary" onClick=${() => setDialog({ isNew: true })}>
            <${Icon} name="plus-lg" /><span>New project</span></button>`}
    </${PageHead}>
    <${Loaded} from=${loaded} what="Loading projects">${({ items, version }) => (items.length === 0
        ? html`<${Card} isFlush><${Empty} icon="lock" title="You have no access to any project">
            <p>Ask an admin for permission in a project.</p></${Empty}></${Card}>`
        : html`<div class="cards">${items.map((project) => html`<${ProjectCard} key=${project.slug} project=${project}
            open=${setDialog} />`)}</div>
        <${Dialogs} dialog=${dialog} version=${version} onClose=${close} onDone=${changed} />`)}
    </${Loaded}>`;
}

/** Return the dialog that the URL asks for. */
function dialogOf({ connect, new: isNew }) {
    if (connect && projects.value.some(({ slug }) => slug === connect)) {
        return { connects: { slug: connect } };
    }
    return isNew && isAdmin.value ? { isNew: true } : null;
}

/** Return the projects of a user who is no admin, with the tier in each. */
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
