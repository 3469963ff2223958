// Dialogs of a user: name and tier, and the tiers in projects.

import * as api from "../api.js";
import { useLoaded } from "../loading.js";
import { MEANINGS, TIERS } from "../tiers.js";
import { html, useState } from "../view.js";
import { FormDialog } from "./dialog.js";
import { Field, Select } from "./pieces.js";
import { Loaded } from "./states.js";
import { say } from "./toasts.js";

const UNLISTED = "";

/** Create a user, or change the tier of `user`. */
export function UserDialog({ user, version, onClose, onDone }) {
    const [name, setName] = useState(user?.name ?? "");
    const [tier, setTier] = useState(user?.tier ?? "writer");
    const submit = async () => {
        if (user) {
            await api.admin("PUT", `users/${api.pathOf(user.name)}`,
                { body: { user: user.name, tier, ifVersion: version } });
        } else {
            await api.admin("POST", "users", { body: { user: name.trim(), tier } });
        }
        say(user ? `${name} is now ${tier}.` : `${name} created. Create a key for this user next.`);
        onDone();
    };
    return html`<${FormDialog} title=${user ? `Tier of ${user.name}` : "New user"}
        label=${user ? "Change tier" : "Create user"}
        isReady=${name.trim() !== ""} submit=${submit} onClose=${onClose}>
        ${!user && html`<${Field} label="Name" hint="a to z, 0 to 9, and . _ @ - after the first character.">
            ${(field) => html`<input ...${field} class="form-control" autocomplete="off" required
            value=${name} onInput=${(event) => setName(event.target.value)} />`}</${Field}>`}
        <${Field} label="Tier"
            hint=${`Can ${MEANINGS[tier]}. Applies to every project that is not private.`}>
            ${(field) => html`<${Select} ...${field} label=${undefined} value=${tier} onPick=${setTier}
                options=${TIERS.map((one) => [one, one])} />`}
        </${Field}>
    </${FormDialog}>`;
}

/** Set the tiers of a user in projects that differ from its own tier. */
export function ListingDialog({ user, onClose, onDone }) {
    const projects = useLoaded(async () => (await api.admin("GET", "projects")).items, []);
    const [listed, setListed] = useState({ ...user.permissions });
    const submit = async () => {
        for (const { slug } of projects.data) {
            if ((listed[slug] ?? UNLISTED) !== (user.permissions[slug] ?? UNLISTED)) {
                await relist(slug, user.name, listed[slug]);
            }
        }
        say(`Projects of ${user.name} saved.`);
        onDone();
    };
    return html`<${FormDialog} title=${`Projects of ${user.name}`} label="Save" submit=${submit} onClose=${onClose}
        isReady=${projects.data !== null}>
        <${Loaded} from=${projects} what="Loading projects">
            ${(items) => html`<div class="field-grid">${items.map(({ slug, settings }) => html`
            <${Field} key=${slug} label=${settings.name || slug}
                hint=${settings.private ? "Private: only listed users have access." : undefined}>${(field) => html`
                <${Select} ...${field} label=${undefined} value=${listed[slug] ?? UNLISTED}
                    onPick=${(tier) => setListed({ ...listed, [slug]: tier })}
                    options=${[[UNLISTED, unlistedIn(settings, user)], ...TIERS.map((one) => [one, one])]} />`}
            </${Field}>`)}</div>`}
        </${Loaded}>
    </${FormDialog}>`;
}

function unlistedIn(settings, user) {
    return `not listed: ${settings.private ? "none" : user.tier}`;
}

/** Change one permission of a project, whose list is read and written as a whole. */
async function relist(project, user, tier) {
    const path = `permissions/${api.pathOf(project)}`;
    const { items, version } = await api.admin("GET", path);
    const others = items.filter((one) => one.listed !== null && one.user !== user).map((one) => [one.user, one.listed]);
    const permissions = Object.fromEntries(tier ? [...others, [user, tier]] : others);
    await api.admin("PUT", path, { body: { permissions, ifVersion: version } });
}
