// Connect a client: what to put where, with a key, and a test of the very way it will take.

import * as api from "../api.js";
import { CLIENTS, snippetOf } from "../connecting.js";
import { plural } from "../formatting.js";
import { isAdmin, session } from "../session.js";
import { html, useState } from "../view.js";
import { Dialog } from "./dialog.js";
import { CopyButton, Field, Select } from "./pieces.js";
import { Notice } from "./states.js";

const WAYS = [
    ["http", "HTTP, to this server"],
    ["bridge", "qms bridge, a program"],
];

export function ConnectDialog({ project, onClose }) {
    const [client, setClient] = useState("claude-code");
    const [way, setWay] = useState("http");
    const [key, setKey] = useState("");
    const { title, file, isCommand, isStdioOnly } = CLIENTS[client];
    const text = snippetOf(client, { way, origin: location.origin, project, key: key.trim() });
    return html`<${Dialog} title=${`Connect a client to ${project}`} onClose=${onClose} isWide><div class="stack-sm">
        <div class="field-grid">
            <${Field} label="Client">
                ${(field) => html`<${Select} ...${field} label=${undefined} value=${client} onPick=${setClient}
                options=${Object.entries(CLIENTS).map(([name, one]) => [name, one.title])} />`}</${Field}>
            <${Field} label="Way" hint=${isStdioOnly ? `${title} takes no remote server from its file.` : undefined}>
                ${(field) => html`
                <${Select} ...${field} label=${undefined} value=${isStdioOnly ? "bridge" : way} onPick=${setWay}
                    options=${isStdioOnly ? WAYS.slice(1) : WAYS} />`}</${Field}>
        </div>
        <${KeyField} value=${key} onChange=${setKey} label=${title} />
        <div>
            <p class="form-label">${isCommand ? "Run this in a terminal" : html`Put this into <code>${file}</code>`}</p>
            <pre class="code-text wraps" tabindex="0" aria-label="The snippet">${text}</pre>
        </div>
        <div class="actions"><${CopyButton} text=${text} label="Copy snippet" /></div>
        <${LiveTest} key=${`${key}`} project=${project} accessKey=${key.trim()} />
    </div></${Dialog}>`;
}

function KeyField({ value, onChange, label }) {
    const [error, setError] = useState("");
    const make = async () => {
        try {
            const { key } = await api.admin("POST", "keys", { body: { user: session.value.user, label } });
            onChange(key);
        } catch (refusal) {
            setError(refusal.message);
        }
    };
    return html`<${Field} label="Key for this client" error=${error}
        hint=${isAdmin.value
            ? "It goes into the snippet and nowhere else. A key made here is yours, with all that you may do: agents"
                + " are better off with a user of their own."
            : "It goes into the snippet and nowhere else."}>${(field) => html`
        <div class="d-flex gap-2"><input ...${field} class="form-control mono" autocomplete="off" spellcheck=${false}
            placeholder="qms_…" value=${value}
            onInput=${(event) => onChange(event.target.value)} />
        ${isAdmin.value && html`<button class="btn btn-quiet flex-shrink-0" type="button"
            onClick=${make}>Make a key</button>`}</div>`}</${Field}>`;
}

function LiveTest({ project, accessKey }) {
    const [state, setState] = useState(null);
    const run = async () => {
        setState({ tone: "info", text: "Asking…" });
        try {
            const { tools } = await api.askAsClient(project, accessKey, "tools/list");
            const offered = plural(tools.length, "tool");
            setState({ tone: "good", icon: "check2", text: `It works: the server offers ${offered} to this key.` });
        } catch (refusal) {
            setState({ tone: "bad", icon: "exclamation-triangle", text: refusal.status === 401
                ? "No user has this key. Check that it was copied whole: it begins with qms_."
                : refusal.message });
        }
    };
    return html`<div class="stack-sm">
        <div><button class="btn btn-primary" disabled=${!accessKey} onClick=${run}>Test the connection</button></div>
        <div role="status">${state && html`<${Notice} tone=${state.tone} icon=${state.icon}>
            ${state.text}</${Notice}>`}</div>
    </div>`;
}
