// The relations from and to an entry, and a dialog to add one.

import * as api from "../api.js";
import { projectOf } from "../formatting.js";
import { useLoaded } from "../loading.js";
import { hrefOf } from "../router.js";
import { tierIn } from "../session.js";
import { mayEdit } from "../tiers.js";
import { html, useState } from "../view.js";
import { FormDialog } from "./dialog.js";
import { Icon } from "./icon.js";
import { Field, Select } from "./pieces.js";
import { Loaded } from "./states.js";
import { complain, say } from "./toasts.js";

const TYPES = ["relatedTo", "ref", "supersedes", "contradicts", "derivedFrom", "partOf", "mentions", "answers"];
const FEWEST_LETTERS = 2;

export function EntryLinks({ entry, version, onChange }) {
    const project = projectOf(entry.id);
    const links = useLoaded(() => api.command(project, "getLinks", { id: entry.id }), [entry.id, version]);
    const [isLinking, setLinking] = useState(false);
    const isEditable = mayEdit(tierIn(project), entry);
    const unlink = async ({ targetId, type }) => {
        try {
            await api.command(project, "unlinkEntries", { sourceId: entry.id, targetId, type, ifVersion: version });
            say("Link removed.");
        } catch (error) {
            complain(error);
        }
        onChange();
    };
    return html`<div class="stack-sm">
        <${Loaded} from=${links} what="Loading links">${({ links: found }) => (found.length === 0
            ? html`<p class="text-soft mb-0">No links yet.</p>`
            : html`<ul class="rows">${found.map((link) => html`<${Link} link=${link} entry=${entry}
                onUnlink=${isEditable && link.sourceId === entry.id ? () => unlink(link) : null} />`)}</ul>`)}
        </${Loaded}>
        ${isEditable && html`<div><button class="btn btn-quiet btn-sm" onClick=${() => setLinking(true)}>
            <${Icon} name="link-45deg" /><span>Add link</span></button></div>`}
        ${isLinking && html`<${LinkDialog} entry=${entry} version=${version} onClose=${() => setLinking(false)}
            onDone=${onChange} />`}
    </div>`;
}

function Link({ link, entry, onUnlink }) {
    const isOwn = link.sourceId === entry.id;
    const other = isOwn ? link.targetId : link.sourceId;
    return html`<li class="d-flex gap-2 align-items-baseline py-1">
        <span class="chip flex-shrink-0">${isOwn ? link.type : `${link.type} ←`}</span>
        <span class="flex-grow-1">${link.title
            ? html`<a href=${hrefOf("entries", [projectOf(entry.id)], { id: other })}>${link.title}</a>`
            : html`<code class="text-soft">${other}</code>`}</span>
        ${onUnlink && html`<button class="btn btn-bare btn-sm" aria-label=${`Remove the link to ${link.title ?? other}`}
            onClick=${onUnlink}><${Icon} name="x-lg" /></button>`}
    </li>`;
}

function LinkDialog({ entry, version, onClose, onDone }) {
    const project = projectOf(entry.id);
    const [text, setText] = useState("");
    const [type, setType] = useState(TYPES[0]);
    const [target, setTarget] = useState(null);
    const found = useLoaded(async () => {
        if (text.trim().length < FEWEST_LETTERS) {
            return [];
        }
        const { results } = await api.command(project, "searchEntries", { query: { text, maxResults: 8 } });
        return results.map((result) => result.entry).filter(({ id }) => id !== entry.id);
    }, [text]);
    const submit = async () => {
        await api.command(project, "linkEntries",
            { sourceId: entry.id, targetId: target.id, type, ifVersion: version });
        say("Linked.");
        onDone();
    };
    return html`<${FormDialog} title="Add link" label="Link" submit=${submit} onClose=${onClose}
        isReady=${target !== null}>
        <${Field} label="Relation">
            ${(field) => html`<${Select} ...${field} label=${undefined} value=${type}
            options=${TYPES.map((one) => [one, one])} onPick=${setType} />`}</${Field}>
        <${Field} label="Search for an entry">${(field) => html`<input ...${field} class="form-control" value=${text}
            onInput=${(event) => setText(event.target.value)} />`}</${Field}>
        <div role="radiogroup" aria-label="Entries found" class="stack-sm">
            ${(found.data ?? []).map((one) => html`<label class="form-check" key=${one.id}>
                <input class="form-check-input" type="radio" name="target" checked=${target?.id === one.id}
                    onChange=${() => setTarget(one)} />
                <span class="form-check-label">${one.title} <span class="text-soft small">${one.kind}</span></span>
            </label>`)}
        </div>
    </${FormDialog}>`;
}
