// Shows a diff.

import { html } from "../view.js";

const CLASSES = { "+": "added", "-": "removed", " ": "" };

export function Diff({ lines, label }) {
    return html`<pre class="diff" tabindex="0" role="region" aria-label=${label}>${lines.map(
        ({ mark, text }) => html`<span class=${CLASSES[mark]}>${mark} ${text}</span>`,
    )}</pre>`;
}
