// Creates a key for a user and shows it once.

import * as api from "../api.js";
import { fromLocalInput } from "../formatting.js";
import { html, useState } from "../view.js";
import { Dialog, FormDialog } from "./dialog.js";
import { CopyButton, Field } from "./pieces.js";
import { Notice } from "./states.js";

/** The question before a key that was not copied disappears. */
export const ONCE = "The key was not copied and cannot be shown again. Close anyway?";

/** Create a key for `user`; `replaces` is the old key when rotating. */
export function KeyDialog({ user, replaces, onClose, onDone }) {
    const [label, setLabel] = useState(replaces?.label ?? "");
    const [ends, setEnds] = useState("");
    const [made, setMade] = useState(null);
    const [isCopied, setCopied] = useState(false);
    const submit = async () => {
        const body = { user, label, expiresUtc: fromLocalInput(ends) ?? undefined };
        setMade((await api.admin("POST", "keys", { body })).key);
        onDone();
    };
    if (made) {
        return html`<${Dialog} title="New key" onClose=${onClose} asks=${isCopied ? "" : ONCE}><div class="stack-sm">
            <${Notice} tone="warn" icon="key">Copy it now: it will not be shown again.</${Notice}>
            <pre class="code-text wraps" tabindex="0" aria-label="New key">${made}</pre>
            ${replaces && html`<p class="mb-0">The old key works until you revoke it. Update your clients first.</p>`}
            <div class="box-foot">
                <${CopyButton} text=${made} label="Copy key" isSmall=${false} onCopied=${() => setCopied(true)} />
                <button class="btn btn-primary" onClick=${onClose}>Done</button>
            </div>
        </div></${Dialog}>`;
    }
    return html`<${FormDialog} title=${replaces ? `Rotate a key of ${user}` : `New key for ${user}`}
        label="Create key"
        submit=${submit} onClose=${onClose} onDone=${() => {}}>
        <${Field} label="Label" hint="Where the key is used, to identify it later.">
            ${(field) => html`<input ...${field}
            class="form-control" maxlength="200" placeholder="laptop, Claude Code" value=${label}
                onInput=${(event) => setLabel(event.target.value)} />`}</${Field}>
        <${Field} label="Expires" hint="Default: never.">${(field) => html`<input ...${field}
            class="form-control" type="datetime-local" value=${ends}
                onInput=${(event) => setEnds(event.target.value)} />`}</${Field}>
    </${FormDialog}>`;
}
