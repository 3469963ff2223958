// The keys that act on the page that is shown.

import { shown } from "../keys.js";
import { html } from "../view.js";
import { Dialog } from "./dialog.js";

const NAMES = { " ": "Space", ArrowDown: "↓", ArrowUp: "↑", Escape: "Esc" };

export function KeysHelp({ onClose }) {
    return html`<${Dialog} title="Keys" onClose=${onClose}>
        <div class="stack">
            ${shown.value.map(({ title, list }) => html`<section key=${title} class="stack-sm">
                <h3>${title}</h3>
                <dl class="facts">
                    ${list().map(([key, does]) => html`<dt><kbd>${NAMES[key] ?? key}</kbd></dt><dd>${does}</dd>`)}
                </dl>
            </section>`)}
        </div>
    </${Dialog}>`;
}
