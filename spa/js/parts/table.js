// A table that scrolls horizontally; on a phone each row is a card with the names of its fields.

import { html } from "../view.js";

/**
 * Render `rows`, `[{ key, cells }]`, below `columns`: names, or `{ name, look, isHidden, title }`. `look` is the class
 * of its cells, a hidden name is for screen readers only, and a title is shown instead of the name.
 */
export function Table({ label, columns, rows, isDense, isTall }) {
    const heads = columns.map((column) => (typeof column === "string" ? { name: column } : column));
    return html`<div class=${`table-wrap ${isTall ? "tall" : ""}`} tabindex="0" role="region" aria-label=${label}>
        <table class=${`table-clean ${isDense ? "dense" : ""}`}>
            <thead><tr>${heads.map(({ name, look, isHidden, title }) => html`<th class=${look} key=${name}>
                <span class=${isHidden ? "visually-hidden" : ""}>${title ?? name}</span></th>`)}</tr></thead>
            <tbody>${rows.map(({ key, cells }) => html`<tr key=${key}>
                ${cells.map((cell, at) => html`<td class=${heads[at].look}
                    data-name=${heads[at].isHidden ? undefined : heads[at].name}><div>${cell}</div></td>`)}
            </tr>`)}</tbody>
        </table>
    </div>`;
}
