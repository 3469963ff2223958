// Lists the keyboard shortcuts of the current page.

import { shown } from "../keys.js";
import { html } from "../view.js";
import { Dialog } from "./dialog.js";

const NAMES = { " ": "Space", ArrowDown: "↓", ArrowUp: "↑", Escape: "Esc" };

export function KeysHelp({ onClose }) {
    return html`<${Dialog} title="Keyboard shortcuts" onClose=${onClose}>
        <div class="stack">
            <dl class="facts"><dt><kbd>Ctrl K</kbd></dt><dd>Go to a page, project or entry, or run an action</dd></dl>
            ${shown.value.map(({ title, list }) => html`<section key=${title} class="stack-sm">
                <h3>${title}</h3>
                <dl class="facts">
                    ${list().map(([key, does]) => html`<dt><kbd>${NAMES[key] ?? key}</kbd></dt><dd>${does}</dd>`)}
                </dl>
            </section>`)}
        </div>
    </${Dialog}>`;
}
