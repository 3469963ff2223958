// Sign in with an API key, or with the setup link of a first run.

import { farewell, signIn } from "../session.js";
import { html, useEffect, useState } from "../view.js";
import { Field } from "../parts/pieces.js";
import { Notice } from "../parts/states.js";

export function SignIn() {
    const [key, setKey] = useState("");
    const [error, setError] = useState("");
    const [isBusy, setBusy] = useState(false);
    useEffect(() => {
        document.title = "Sign in · Quick Memory Server";
    }, []);
    const send = async (event) => {
        event.preventDefault();
        setBusy(true);
        setError("");
        try {
            await signIn({ key: key.trim() });
        } catch (refusal) {
            setError(refusal.status === 401
                ? "Invalid API key. Check that you copied the whole key: it begins with qms_."
                : refusal.message);
            setBusy(false);
        }
    };
    return html`<main class="sign-in">
        <div class="card-box sign-in-card stack-sm">
            <div>
                <img src="/static/icon.svg" alt="" width="44" height="44" />
                <h1>Quick Memory Server</h1>
                <p class="text-soft mb-0">One memory for all your agents. Sign in to manage it.</p>
            </div>
            ${farewell.value && !error && html`<${Notice} tone="warn">${farewell.value}</${Notice}>`}
            <form class="stack-sm" onSubmit=${send}>
                <${Field} label="API key" error=${error}
                    hint="The server printed it at its first start, or an admin gave it to you.">
                    ${(field) => html`<input ...${field} class=${`form-control mono ${error ? "invalid" : ""}`}
                        type="password" name="key" autocomplete="current-password" placeholder="qms_…"
                        autofocus required value=${key} onInput=${(event) => setKey(event.target.value)} />`}
                </${Field}>
                <button class="btn btn-primary" disabled=${isBusy || !key.trim()}>
                    ${isBusy ? "Signing in…" : "Sign in"}
                </button>
            </form>
            <p class="small text-soft mb-0">
                Lost your key? Run <code>memoryctl keys create admin</code> on the server.
            </p>
        </div>
    </main>`;
}
