// A box above the page; the browser keeps the focus inside and closes it on Escape.

import { html, useEffect, useId, useRef, useState } from "../view.js";
import { Icon } from "./icon.js";
import { Notice } from "./states.js";

const FIRST_FIELD = ".box-in :is(input, select, textarea):enabled";

export function Dialog({ title, onClose, isWide, children }) {
    const box = useRef(null);
    const label = useId();
    useEffect(() => {
        const before = document.activeElement;
        box.current.showModal();
        // The browser would choose what stands first, which closes the box again.
        box.current.querySelector(FIRST_FIELD)?.focus();
        return () => before?.focus?.();
    }, []);
    return html`<dialog class=${isWide ? "box wide" : "box"} ref=${box} aria-labelledby=${label}
        onClose=${onClose}>
        <div class="box-head">
            <h2 id=${label}>${title}</h2>
            <button class="btn btn-bare btn-sm" type="button" aria-label="Close"
                onClick=${() => box.current.close()}><${Icon} name="x-lg" /></button>
        </div>
        <div class="box-in">${children}</div>
    </dialog>`;
}

/** A form in a dialog: `submit` runs, its refusal is shown, and the dialog closes, or `onDone` says what follows. */
export function FormDialog({
    title, label, submit, onClose, onDone = onClose, isWide, isDangerous, isReady = true, children,
}) {
    const [error, setError] = useState(null);
    const [isBusy, setBusy] = useState(false);
    const send = async (event) => {
        event.preventDefault();
        setBusy(true);
        setError(null);
        try {
            await submit();
            onDone();
        } catch (refusal) {
            setError(refusal);
            setBusy(false);
        }
    };
    return html`<${Dialog} title=${title} onClose=${onClose} isWide=${isWide}>
        <form onSubmit=${send} class="stack-sm">
            ${children}
            ${error && html`<${Notice} tone="bad" icon="exclamation-triangle">${error.message}</${Notice}>`}
            <div class="box-foot">
                <button class="btn btn-quiet" type="button" onClick=${onClose}>Cancel</button>
                <button class=${isDangerous ? "btn btn-danger" : "btn btn-primary"}
                    disabled=${isBusy || !isReady}>${isBusy ? "Working…" : label}</button>
            </div>
        </form>
    </${Dialog}>`;
}
