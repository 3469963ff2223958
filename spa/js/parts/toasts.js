// Short messages at the edge of the page, with a way back where there is one.

import { html, signal } from "../view.js";

const LASTS_MS = 7000;

const notes = signal([]);
let lastId = 0;

/** Say that something is done; `undo` is `{ label, run }`. */
export function say(text, undo = null) {
    const note = { id: ++lastId, text, undo };
    notes.value = [...notes.value.slice(-2), note];
    setTimeout(() => dismiss(note), LASTS_MS);
}

/** Say that something was refused, in the server's own words. */
export function complain(error) {
    say(error.message);
}

function dismiss(note) {
    notes.value = notes.value.filter((one) => one !== note);
}

export function Toasts() {
    const undo = (note) => {
        dismiss(note);
        note.undo.run();
    };
    return html`<div class="toasts" role="status" aria-live="polite">
        ${notes.value.map((note) => html`<div class="toast-note" key=${note.id}>
            <span>${note.text}</span>
            ${note.undo && html`<button onClick=${() => undo(note)}>${note.undo.label}</button>`}
            <button aria-label="Dismiss" onClick=${() => dismiss(note)}>✕</button>
        </div>`)}
    </div>`;
}
