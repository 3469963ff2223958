// Icons of the vendored sheet; they are decorative, the text beside them says the same.

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
