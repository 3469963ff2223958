// Users and keys: users, their tiers and their API keys.

import * as api from "../api.js";
import { plural } from "../formatting.js";
import { useLoaded } from "../loading.js";
import { place, setQuery } from "../router.js";
import { MEANINGS } from "../tiers.js";
import { html, useState } from "../view.js";
import { FormDialog } from "../parts/dialog.js";
import { Icon } from "../parts/icon.js";
import { KeyDialog } from "../parts/key_dialog.js";
import { AccessChip, PageHead, Time } from "../parts/pieces.js";
import { Loaded, Notice } from "../parts/states.js";
import { Table } from "../parts/table.js";
import { say } from "../parts/toasts.js";
import { ListingDialog, UserDialog } from "../parts/user_dialogs.js";

const KEY_COLUMNS = ["Key", "Created", "Last used", "Expires", { name: "Actions", isHidden: true }];

export function Users() {
    const loaded = useLoaded(async () => {
        const [people, keys] = await Promise.all([api.admin("GET", "users"), api.admin("GET", "keys")]);
        return { users: people.items, version: people.version, keys: keys.items };
    }, []);
    const isAdding = place.value.query.new === "yes";
    const setAdding = (isOn) => setQuery({ new: isOn ? "yes" : "" }, { replace: true });
    return html`<${PageHead} title="Users and keys" about=${aboutOf(loaded.data)}>
        <button class="btn btn-primary" onClick=${() => setAdding(true)}><${Icon} name="plus-lg" />
            <span>New user</span></button>
    </${PageHead}>
    <${Loaded} from=${loaded} what="Loading users">${({ users, keys, version }) => html`<div class="stack">
        ${users.map((user) => html`<${User} key=${user.name} user=${user} version=${version}
            keys=${keys.filter((one) => one.user === user.name)} onChange=${loaded.reload} />`)}
    </div>`}</${Loaded}>
    ${isAdding && html`<${UserDialog} onClose=${() => setAdding(false)} onDone=${loaded.reload} />`}`;
}

function aboutOf(data) {
    const counted = data ? ` ${plural(data.users.length, "user")}, ${plural(data.keys.length, "key")}.` : "";
    return `Who has access, with which key and tier.${counted}`;
}

function User({ user, keys, version, onChange }) {
    const [dialog, setDialog] = useState(null);
    const close = () => setDialog(null);
    const remove = async () => {
        await api.admin("DELETE", `users/${api.pathOf(user.name)}`, { query: { ifVersion: version } });
        say(`${user.name} removed.`);
        onChange();
    };
    const actions = html`<div class="actions">
        <button class="btn btn-quiet btn-sm" onClick=${() => setDialog("key")}><${Icon} name="key" />
            <span>New key</span></button>
        <button class="btn btn-quiet btn-sm" onClick=${() => setDialog("tier")}><${Icon} name="pencil" />
            <span>Tier</span></button>
        <button class="btn btn-quiet btn-sm" onClick=${() => setDialog("listing")}><${Icon} name="folder2-open" />
            <span>Projects</span></button>
        <button class="btn btn-danger-quiet btn-sm" disabled=${user.isLastAdmin} aria-label=${`Remove ${user.name}`}
            title="Remove" onClick=${() => setDialog("remove")}><${Icon} name="trash3" /></button>
    </div>`;
    return html`<section class="card-box" aria-label=${user.name}>
        <div class="card-head">
            <span class="avatar" aria-hidden="true">${user.name.slice(0, 2).toUpperCase()}</span>
            <div class="card-head-text"><h2>${user.name}</h2><${Listing} user=${user} /></div>
            ${actions}
        </div>
        ${user.isLastAdmin && html`<div class="card-in pb-0"><${Notice} tone="warn" icon="shield-check">
            The only admin with a valid key. It cannot be removed or demoted until there is another admin.
        </${Notice}></div>`}
        <${Keys} keys=${keys} version=${version} onChange=${onChange} />
        ${dialog === "key" && html`<${KeyDialog} user=${user.name} onClose=${close} onDone=${onChange} />`}
        ${dialog === "tier" && html`<${UserDialog} user=${user} version=${version} onClose=${close}
            onDone=${onChange} />`}
        ${dialog === "listing" && html`<${ListingDialog} user=${user} onClose=${close} onDone=${onChange} />`}
        ${dialog === "remove" && html`<${FormDialog} title=${`Remove ${user.name}?`} label="Remove" isDangerous
            submit=${remove} onClose=${close}>
            <p class="mb-0">All keys of this user stop working at once. Entries written by the user stay.</p>
        </${FormDialog}>`}
    </section>`;
}

function Listing({ user }) {
    const listed = Object.entries(user.permissions);
    return html`<div class="actions mt-1">
        <span title=${`Can ${MEANINGS[user.tier]}`}><${AccessChip} tier=${user.tier} /></span>
        ${listed.map(([project, tier]) => html`<span class="chip" key=${project}>${project}: ${tier}</span>`)}
    </div>`;
}

function Keys({ keys, version, onChange }) {
    const [dialog, setDialog] = useState(null);
    if (keys.length === 0) {
        return html`<p class="card-in text-soft mb-0">No keys yet: this user cannot sign in.</p>`;
    }
    const revoke = async (key) => {
        await api.admin("DELETE", `keys/${api.pathOf(key.id)}`, { query: { ifVersion: version } });
        say("Key revoked.");
        onChange();
    };
    const close = () => setDialog(null);
    const rows = keys.map((key) => ({ key: key.id, cells: [
        html`${key.label || html`<span class="text-soft">no label</span>`} <code class="text-soft">${key.id}</code>`,
        html`<${Time} utc=${key.createdUtc} />`,
        html`<${Time} utc=${key.lastUsedUtc} />`,
        endOf(key),
        html`<div class="actions row-actions">
            <button class="btn btn-quiet btn-sm" onClick=${() => setDialog({ rotates: key })}>Rotate</button>
            <button class="btn btn-danger-quiet btn-sm" onClick=${() => setDialog({ revokes: key })}>Revoke</button>
        </div>`,
    ] }));
    return html`<div>
        <${Table} label=${`Keys of ${keys[0].user}`} columns=${KEY_COLUMNS} rows=${rows} />
        ${dialog?.rotates && html`<${KeyDialog} user=${dialog.rotates.user} replaces=${dialog.rotates}
            onClose=${close} onDone=${onChange} />`}
        ${dialog?.revokes && html`<${FormDialog} title="Revoke this key?" label="Revoke" isDangerous
            submit=${() => revoke(dialog.revokes)} onClose=${close}>
            <p class="mb-0">Clients that use ${dialog.revokes.label ? `“${dialog.revokes.label}”` : "it"} lose access at
                once, and its sessions end. ${othersOf(dialog.revokes, keys)}</p>
        </${FormDialog}>`}
    </div>`;
}

function othersOf({ user }, keys) {
    return keys.length > 1 ? `${user} keeps ${plural(keys.length - 1, "other key")}.` : "";
}

function endOf(key) {
    if (key.isExpired) {
        return html`<span class="chip bad">expired</span>`;
    }
    return key.expiresUtc ? html`<${Time} utc=${key.expiresUtc} />` : html`<span class="text-soft">never</span>`;
}
