// A modal dialog; the browser keeps the focus inside and closes it on Escape.

import { html, useEffect, useId, useRef, useState } from "../view.js";
import { Icon } from "./icon.js";
import { Notice } from "./states.js";

const FIRST_FIELD = ".box-in :is(input, select, textarea):enabled";

/** A dialog; with `asks`, a question, it is closed only after a confirmation. */
export function Dialog({ title, onClose, asks, isWide, children }) {
    const box = useRef(null);
    const label = useId();
    const [isAsking, setAsking] = useState(false);
    const close = () => (asks ? setAsking(true) : box.current.close());
    const onKeyDown = (event) => {
        if (event.key === "Escape" && asks) {
            event.preventDefault();
            setAsking(!isAsking);
        }
    };
    useEffect(() => {
        const before = document.activeElement;
        box.current.showModal();
        // By default the browser would focus the close button.
        box.current.querySelector(FIRST_FIELD)?.focus();
        return () => before?.focus?.();
    }, []);
    return html`<dialog class=${isWide ? "box wide" : "box"} ref=${box} aria-labelledby=${label}
        closedby=${asks ? "none" : undefined} onKeyDown=${onKeyDown} onClose=${onClose}>
        <div class="box-head">
            <h2 id=${label}>${title}</h2>
            <button class="btn btn-bare btn-sm" type="button" aria-label="Close"
                onClick=${close}><${Icon} name="x-lg" /></button>
        </div>
        ${isAsking && html`<div class="box-asks"><${Notice} tone="bad" icon="exclamation-triangle">
            <p>${asks}</p>
            <div class="actions">
                <button class="btn btn-danger btn-sm" type="button" onClick=${() => box.current.close()}>Close</button>
                <button class="btn btn-quiet btn-sm" type="button" onClick=${() => setAsking(false)}>Go back</button>
            </div>
        </${Notice}></div>`}
        <div class="box-in">${children}</div>
    </dialog>`;
}

/** A form in a dialog: runs `submit`, shows its error, else calls `onDone`, which closes the dialog by default. */
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
