// The permissions of a project: each user's listed tier and effective tier.

import * as api from "../api.js";
import { useLoaded } from "../loading.js";
import { TIERS } from "../tiers.js";
import { html, useState } from "../view.js";
import { FormDialog } from "./dialog.js";
import { AccessChip, Select } from "./pieces.js";
import { Loaded, Notice } from "./states.js";
import { Table } from "./table.js";
import { say } from "./toasts.js";

const UNLISTED = "";

export function PermissionsDialog({ project: { slug }, onClose, onDone }) {
    const path = `permissions/${api.pathOf(slug)}`;
    const loaded = useLoaded(() => api.admin("GET", path), [slug]);
    const [changes, setChanges] = useState({});
    const submit = async () => {
        const listed = loaded.data.items.map(({ user, listed: tier }) => [user, changes[user] ?? tier ?? UNLISTED]);
        const permissions = Object.fromEntries(listed.filter(([, tier]) => tier !== UNLISTED));
        await api.admin("PUT", path, { body: { permissions, ifVersion: loaded.data.version } });
        say(`Permissions of ${slug} saved.`);
        await onDone();
    };
    return html`<${FormDialog} title=${`Permissions of ${slug}`} label="Save" submit=${submit} onClose=${onClose}
        isReady=${loaded.data !== null && Object.keys(changes).length > 0}>
        <${Loaded} from=${loaded} what="Loading permissions">
            ${({ items, private: isPrivate }) => html`<div class="stack-sm">
            ${isPrivate && html`<${Notice} icon="lock">Private: only listed users have access.</${Notice}>`}
            <${Table} label="Permissions" columns=${["User", "Tier in this project", "Effective tier"]}
                rows=${items.map((item) => ({ key: item.user, cells: [
                    item.user,
                    html`<${Select} isSmall label=${`Tier of ${item.user}`}
                        value=${changes[item.user] ?? item.listed ?? UNLISTED}
                        options=${[[UNLISTED, "not listed"], ...TIERS.map((one) => [one, one])]}
                        onPick=${(tier) => setChanges({ ...changes, [item.user]: tier })} />`,
                    item.user in changes
                        ? html`<span class="text-soft">after saving</span>`
                        : html`<${AccessChip} tier=${item.tier} />`,
                ] }))} />
        </div>`}</${Loaded}>
    </${FormDialog}>`;
}
