// Connect a client: its settings with a key, and a test of the connection.

import * as api from "../api.js";
import { CLIENTS, installLink, snippetOf, TOOLSETS } from "../connecting.js";
import { plural } from "../formatting.js";
import { isAdmin } from "../session.js";
import { html, useState } from "../view.js";
import { Dialog } from "./dialog.js";
import { ONCE } from "./key_dialog.js";
import { CopyButton, Field, Select } from "./pieces.js";
import { Notice } from "./states.js";

const WAYS = [
    ["http", "HTTP"],
    ["bridge", "stdio (qms bridge)"],
];

export function ConnectDialog({ project, onClose }) {
    const [client, setClient] = useState("claude-code");
    const [way, setWay] = useState("http");
    const [toolsets, setToolsets] = useState(TOOLSETS[0][0]);
    const [key, setKey] = useState("");
    const [made, setMade] = useState("");
    const [isCopied, setCopied] = useState(false);
    const { title, file, isCommand, isStdioOnly } = CLIENTS[client];
    const given = { way, origin: location.origin, project, key: key.trim(), toolsets };
    const text = snippetOf(client, given);
    // Without the key the client would install a server that refuses it.
    const link = given.key && installLink(client, given);
    return html`<${Dialog} title=${`Connect a client to ${project}`} onClose=${onClose} isWide
        asks=${made && made === key && !isCopied ? ONCE : ""}><div class="stack-sm">
        <div class="field-grid">
            <${Field} label="Client">
                ${(field) => html`<${Select} ...${field} label=${undefined} value=${client} onPick=${setClient}
                options=${Object.entries(CLIENTS).map(([name, one]) => [name, one.title])} />`}</${Field}>
            <${Field} label="Transport" hint=${isStdioOnly ? `${title} supports stdio servers only.` : undefined}>
                ${(field) => html`
                <${Select} ...${field} label=${undefined} value=${isStdioOnly ? "bridge" : way} onPick=${setWay}
                    options=${isStdioOnly ? WAYS.slice(1) : WAYS} />`}</${Field}>
            <${Field} label="Tools">
                ${(field) => html`<${Select} ...${field} label=${undefined} value=${toolsets} onPick=${setToolsets}
                options=${TOOLSETS} />`}</${Field}>
        </div>
        <${KeyField} value=${key} onChange=${setKey} onMade=${setMade} label=${title} user=${client} />
        <div>
            <p class="form-label">${isCommand ? "Run this in a terminal" : html`Put this into <code>${file}</code>`}</p>
            <pre class="code-text wraps" tabindex="0" aria-label="The snippet">${text}</pre>
        </div>
        <div class="actions"><${CopyButton} text=${text} label="Copy snippet" onCopied=${() => setCopied(true)} /></div>
        <${LiveTest} key=${`${key}`} project=${project} accessKey=${key.trim()} />
    </div></${Dialog}>`;
}

/** Return a new key of the client's own user, which is made with tier writer when there is none. */
async function keyOfAgent(user, label) {
    const { items } = await api.admin("GET", "users");
    if (!items.some(({ name }) => name === user)) {
        await api.admin("POST", "users", { body: { user, tier: "writer" } });
    }
    return (await api.admin("POST", "keys", { body: { user, label } })).key;
}

function KeyField({ value, onChange, onMade, label, user }) {
    const [error, setError] = useState("");
    const make = async () => {
        try {
            const key = await keyOfAgent(user, label);
            onChange(key);
            onMade(key);
        } catch (refusal) {
            setError(refusal.message);
        }
    };
    return html`<${Field} label="Key for this client" error=${error}
        hint=${isAdmin.value
            ? `Used only in the snippet below. A key created here belongs to the user ${user}, with tier writer if it`
                + " is new."
            : "Used only in the snippet below."}>${(field) => html`
        <div class="d-flex gap-2"><input ...${field} class="form-control mono" autocomplete="off" spellcheck=${false}
            placeholder="qms_…" value=${value}
            onInput=${(event) => onChange(event.target.value)} />
        ${isAdmin.value && html`<button class="btn btn-quiet flex-shrink-0" type="button"
            onClick=${make}>Create a key</button>`}</div>`}</${Field}>`;
}

function LiveTest({ project, accessKey }) {
    const [state, setState] = useState(null);
    const run = async () => {
        setState({ tone: "info", text: "Testing…" });
        try {
            const { tools } = await api.askAsClient(project, accessKey, "tools/list");
            const offered = plural(tools.length, "tool");
            setState({ tone: "good", icon: "check2", text: `Connected: ${offered} available.` });
        } catch (refusal) {
            setState({ tone: "bad", icon: "exclamation-triangle", text: refusal.status === 401
                ? "Invalid API key. Check that you copied the whole key: it begins with qms_."
                : refusal.message });
        }
    };
    return html`<div class="stack-sm">
        <div><button class="btn btn-primary" disabled=${!accessKey} onClick=${run}>Test connection</button></div>
        <div role="status">${state && html`<${Notice} tone=${state.tone} icon=${state.icon}>
            ${state.text}</${Notice}>`}</div>
    </div>`;
}
