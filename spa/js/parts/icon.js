// Icons of the vendored sheet; a picture says nothing that words beside it do not.

import { html } from "../view.js";

const SHEET = "/static/vendor/icons-1.13.2.svg";

const KINDS = {
    note: "file-earmark-text", fact: "info-circle", procedure: "list-check",
    conversationTurn: "people", timelineEvent: "clock-history", codeSnippet: "braces",
    decision: "check2", observation: "eye", question: "question-circle", task: "play",
    document: "journal-text", chunk: "copy", entity: "boxes",
};

export function Icon({ name }) {
    return html`<svg class="icon" aria-hidden="true"><use href=${`${SHEET}#${name}`} /></svg>`;
}

/** Return the icon of a kind of entry. */
export function kindIcon(kind) {
    return KINDS[kind] ?? "file-earmark-text";
}
