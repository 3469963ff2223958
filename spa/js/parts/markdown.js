// A help page on the screen.

import { piecesOf } from "../markdown.js";
import { html } from "../view.js";
import { Table } from "./table.js";

export function Markdown({ blocks }) {
    return html`<div class="prose">${blocks.map((block) => html`<${Block} block=${block} />`)}</div>`;
}

function Block({ block }) {
    switch (block.type) {
        case "heading": return heading(block);
        case "code": return html`<pre class="code-text" tabindex="0">${block.text}</pre>`;
        case "list": return block.isOrdered
            ? html`<ol>${block.items.map((item) => html`<li><${Line} text=${item} /></li>`)}</ol>`
            : html`<ul>${block.items.map((item) => html`<li><${Line} text=${item} /></li>`)}</ul>`;
        case "table": return html`<${Table} label=${block.head.join(", ")}
            columns=${block.head.map((text) => ({ name: plain(text), title: html`<${Line} text=${text} />` }))}
            rows=${block.rows.map((row) => ({ cells: row.map((text) => html`<${Line} text=${text} />`) }))} />`;
        default: return html`<p><${Line} text=${block.text} /></p>`;
    }
}

/** The page has its own first heading: those of the text begin below it. */
function heading({ level, text }) {
    return level <= 2 ? html`<h2><${Line} text=${text} /></h2>` : html`<h3><${Line} text=${text} /></h3>`;
}

function plain(text) {
    return piecesOf(text).map((piece) => piece.text).join("");
}

function Line({ text }) {
    return piecesOf(text).map((piece) => {
        switch (piece.type) {
            case "code": return html`<code>${piece.text}</code>`;
            case "strong": return html`<strong>${piece.text}</strong>`;
            case "link": return html`<a href=${piece.href} rel="noreferrer">${piece.text}</a>`;
            default: return piece.text;
        }
    });
}
