// A new key for a user: asked for, then shown this once.

import * as api from "../api.js";
import { fromLocalInput } from "../formatting.js";
import { html, useState } from "../view.js";
import { Dialog, FormDialog } from "./dialog.js";
import { CopyButton, Field } from "./pieces.js";
import { Notice } from "./states.js";

/** Make a key for `user`; `replaces` is the key that it takes over from. */
export function KeyDialog({ user, replaces, onClose, onDone }) {
    const [label, setLabel] = useState(replaces?.label ?? "");
    const [ends, setEnds] = useState("");
    const [made, setMade] = useState(null);
    const submit = async () => {
        const body = { user, label, expiresUtc: fromLocalInput(ends) ?? undefined };
        setMade((await api.admin("POST", "keys", { body })).key);
        onDone();
    };
    if (made) {
        return html`<${Dialog} title="The new key" onClose=${onClose}><div class="stack-sm">
            <${Notice} tone="warn" icon="key">Copy it now: it is shown this once, and kept only as a hash.</${Notice}>
            <pre class="code-text wraps" tabindex="0" aria-label="The new key">${made}</pre>
            ${replaces && html`<p class="mb-0">The old key works until you revoke it: change the clients first.</p>`}
            <div class="box-foot">
                <${CopyButton} text=${made} label="Copy key" isSmall=${false} />
                <button class="btn btn-primary" onClick=${onClose}>Done</button>
            </div>
        </div></${Dialog}>`;
    }
    return html`<${FormDialog} title=${replaces ? `Rotate a key of ${user}` : `New key for ${user}`}
        label="Make the key"
        submit=${submit} onClose=${onClose} onDone=${() => {}}>
        <${Field} label="Label" hint="Where it is used, so that you know which one to revoke.">
            ${(field) => html`<input ...${field}
            class="form-control" maxlength="200" placeholder="laptop, Claude Code" value=${label}
                onInput=${(event) => setLabel(event.target.value)} />`}</${Field}>
        <${Field} label="Ends" hint="Left empty, it works until it is revoked.">${(field) => html`<input ...${field}
            class="form-control" type="datetime-local" value=${ends}
                onInput=${(event) => setEnds(event.target.value)} />`}</${Field}>
    </${FormDialog}>`;
}
