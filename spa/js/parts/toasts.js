// Toasts: short messages in the top bar, some with an offer such as Undo. The bar keeps room for them.

import { html, signal } from "../view.js";

const LASTS_MS = 7000;
const MOST = 3;

const notes = signal([]);
let lastId = 0;

/** Show a message; `offer` is `{ label, run, id }`, and `id` the entry that it is about. */
export function say(text, offer = null) {
    const note = { id: ++lastId, text, offer };
    notes.value = [...notes.value, note].slice(-MOST);
    setTimeout(() => dismiss(note), LASTS_MS);
}

/** Show the message of an error. */
export function complain(error) {
    say(error.message);
}

/** End the offers about an entry, which has changed since. */
export function endOffers(id) {
    notes.value = notes.value.filter(({ offer }) => !offer || offer.id !== id);
}

/** End every message, as when the user leaves. */
export function clearToasts() {
    notes.value = [];
}

function dismiss(note) {
    notes.value = notes.value.filter((one) => one !== note);
}

/** The newest message; an older offer is shown again when it ends. */
export function Toasts() {
    const note = notes.value.at(-1);
    const accept = () => {
        dismiss(note);
        note.offer.run();
    };
    return html`<div class="toasts" role="status" aria-live="polite">
        ${note && html`<div class="toast-note" key=${note.id}>
            <span>${note.text}</span>
            ${note.offer && html`<button onClick=${accept}>${note.offer.label}</button>`}
            <button aria-label="Dismiss" onClick=${() => dismiss(note)}>✕</button>
        </div>`}
    </div>`;
}
