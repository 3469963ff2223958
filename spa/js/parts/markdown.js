// Renders Markdown: the help pages, and the texts of entries, which agents write: no HTML, no images, nothing remote.

import { blocksOf, isMarkdown, piecesOf } from "../markdown.js";
import { html, useMemo, useState } from "../view.js";
import { Icon } from "./icon.js";
import { Table } from "./table.js";

const DEEPEST_QUOTE = 3;

/** Render blocks; `top` is the level of their first headings, since the page has headings of its own. */
export function Markdown({ blocks, top = 2, depth = 0 }) {
    return html`<div class="prose">
        ${blocks.map((block) => html`<${Block} block=${block} top=${top} depth=${depth} />`)}</div>`;
}

/** The text of an entry, rendered if it is Markdown, with a switch to its source. */
export function MarkdownText({ text }) {
    const [isSource, setSource] = useState(false);
    const blocks = useMemo(() => (isMarkdown(text) ? blocksOf(text, "\n") : null), [text]);
    if (!blocks) {
        return html`<p class="body-text">${text}</p>`;
    }
    return html`<div class="rendered">
        <button class="btn btn-bare btn-sm rendered-switch" type="button" aria-pressed=${isSource}
            onClick=${() => setSource(!isSource)}><${Icon} name="braces" /><span>Source</span></button>
        ${isSource
            ? html`<pre class="code-text wraps" tabindex="0" aria-label="Source">${text}</pre>`
            : html`<${Markdown} blocks=${blocks} top=${3} />`}
    </div>`;
}

function Block({ block, top, depth }) {
    switch (block.type) {
        case "heading": return heading(block, top);
        case "code": return html`<pre class="code-text" tabindex="0">${block.text}</pre>`;
        case "list": return list(block);
        case "rule": return html`<hr />`;
        case "quote": return html`<blockquote>${depth < DEEPEST_QUOTE
            ? html`<${Markdown} blocks=${blocksOf(block.text, "\n")} top=${top} depth=${depth + 1} />`
            : block.text}</blockquote>`;
        case "table": return html`<${Table} label=${block.head.map(plain).join(", ")}
            columns=${block.head.map((text) => ({ name: plain(text), title: html`<${Line} text=${text} />` }))}
            rows=${block.rows.map((row) => ({
                cells: block.head.map((_, at) => html`<${Line} text=${row[at] ?? ""} />`),
            }))} />`;
        default: return html`<p><${Line} text=${block.text} /></p>`;
    }
}

function heading({ level, text }, top) {
    const Tag = `h${level <= 2 ? top : top + 1}`;
    return html`<${Tag}><${Line} text=${text} /></${Tag}>`;
}

function list({ isOrdered, items, depths }) {
    const List = isOrdered ? "ol" : "ul";
    return html`<${List}>${items.map((item, at) => html`<li class=${depths ? `depth-${depths[at]}` : undefined}>
        <${Line} text=${item} /></li>`)}</${List}>`;
}

function plain(text) {
    return piecesOf(text).map((piece) => piece.text).join("");
}

function Line({ text }) {
    return piecesOf(text).map((piece) => {
        switch (piece.type) {
            case "code": return html`<code>${piece.text}</code>`;
            case "strong": return html`<strong>${piece.text}</strong>`;
            case "emphasis": return html`<em>${piece.text}</em>`;
            case "deleted": return html`<del>${piece.text}</del>`;
            case "link": return html`<a href=${piece.href} title=${piece.href} target="_blank"
                rel="noreferrer noopener">${piece.text}</a>`;
            default: return piece.text;
        }
    });
}
