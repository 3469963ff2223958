// Tabs: the Tab key reaches the selected one, the arrow keys the others.

import { html } from "../view.js";

const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** Show `tabs`, `[[name, title]]`. */
export function Tabs({ label, tabs, chosen, onPick, isFirst }) {
    const move = (event) => {
        const at = tabs.findIndex(([name]) => name === chosen) + (STEPS[event.key] ?? 0);
        const to = { Home: 0, End: tabs.length - 1 }[event.key] ?? (at + tabs.length) % tabs.length;
        if (event.key in STEPS || event.key === "Home" || event.key === "End") {
            event.preventDefault();
            onPick(tabs[to][0]);
            event.currentTarget.children[to].focus();
        }
    };
    return html`<div class=${`tabs ${isFirst ? "mt-0" : ""}`} role="tablist" aria-label=${label} onKeyDown=${move}>
        ${tabs.map(([name, title]) => html`<button type="button" role="tab" key=${name}
            aria-selected=${name === chosen} tabindex=${name === chosen ? 0 : -1}
            onClick=${() => onPick(name)}>${title}</button>`)}
    </div>`;
}
