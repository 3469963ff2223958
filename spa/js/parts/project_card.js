// The card of a project: entries, quota, settings and permissions.

import { count, plural, size } from "../formatting.js";
import { hrefOf } from "../router.js";
import { isAdmin } from "../session.js";
import { html } from "../view.js";
import { Icon } from "./icon.js";
import { AccessChip } from "./pieces.js";

/** Show a project; `open({ edits: project })` and the like open a dialog. */
export function ProjectCard({ project, open }) {
    const { slug, settings, isOpen } = project;
    const title = settings.name || slug;
    return html`<section class="card-box" aria-label=${title}>
        <div class="card-head">
            <div class="card-head-text"><h2>
                ${isOpen ? html`<a href=${hrefOf("entries", [slug])}>${title}</a>` : title}</h2>
                <code class="text-soft">${slug}</code></div>
            <button class="btn btn-quiet btn-sm" onClick=${() => open({ connects: project })}>
                <${Icon} name="plug" /><span>Connect</span></button>
        </div>
        <div class="card-in stack-sm">
            ${settings.description && html`<p class="mb-0">${settings.description}</p>`}
            <div class="actions">
                ${project.tier && html`<${AccessChip} tier=${project.tier} />`}
                ${settings.private && html`<span class="chip warn"><${Icon} name="lock" />private</span>`}
                ${settings.includeShared && slug !== "shared" && html`<span class="chip">includes shared</span>`}
            </div>
            ${isAdmin.value && html`<${Figures} project=${project} />
            <div class="actions">
                <${Action} icon="pencil" label="Edit" slug=${slug} onClick=${() => open({ edits: project })} />
                <${Action} icon="people" label="Permissions" slug=${slug} onClick=${() => open({ lists: project })} />
                <${Action} icon="tag" label="Rename" slug=${slug} onClick=${() => open({ renames: project })} />
                <button class="btn btn-danger-quiet btn-sm ms-auto" aria-label=${`Remove ${slug}`} title="Remove"
                    onClick=${() => open({ removes: project })}><${Icon} name="trash3" /></button>
            </div>`}
        </div>
    </section>`;
}

function Action({ icon, label, slug, onClick }) {
    return html`<button class="btn btn-quiet btn-sm" aria-label=${`${label} ${slug}`} onClick=${onClick}>
        <${Icon} name=${icon} /><span>${label}</span></button>`;
}

function Figures({ project: { store, isOpen, permissions, settings } }) {
    const listed = Object.entries(permissions);
    const most = [
        settings.maxEntries > 0 && `${count(settings.maxEntries)} entries`,
        settings.maxMegabytes > 0 && `${count(settings.maxMegabytes)} MB`,
    ].filter(Boolean).join(", ");
    const unknown = isOpen ? "not loaded yet" : "no access";
    const held = store ? `${plural(store.entries, "entry", "entries")}, ${size(store.bytes)}` : unknown;
    return html`<dl class="facts">
        <dt>Size</dt><dd>${held}</dd>
        <dt>Quota</dt><dd>${most || "unlimited"}</dd>
        <dt>Secrets</dt><dd>${settings.secrets}</dd>
        <dt>Toolsets</dt><dd>${(settings.toolsets ?? []).join(", ") || "none"}</dd>
        <dt>Permissions</dt><dd>${listed.length
            ? html`<div class="actions">
                ${listed.map(([user, tier]) => html`<span class="chip" key=${user}>${user}: ${tier}</span>`)}</div>`
            : settings.private ? "no users" : "every user with their own tier"}</dd>
    </dl>`;
}
