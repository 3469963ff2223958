// Shows the body of an entry: its main text may be Markdown, and nothing becomes HTML.

import { mainFieldOf } from "../entry_text.js";
import { moment, words } from "../formatting.js";
import { html } from "../view.js";
import { MarkdownText } from "./markdown.js";

const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d/;

export function EntryBody({ entry }) {
    const body = entry.body ?? {};
    const main = mainFieldOf(entry.kind);
    const others = Object.entries(body).filter(([name, value]) => name !== main && value !== null);
    return html`<div class="stack-sm">
        <${Value} value=${body[main]} isCode=${entry.kind === "codeSnippet"} isOrdered=${entry.kind === "procedure"}
            isMain />
        ${others.length > 0 && html`<dl class="facts">
            ${others.map(([name, value]) => html`<dt>${words(name)}</dt><dd><${Value} value=${value} /></dd>`)}
        </dl>`}
    </div>`;
}

export function Value({ value, isCode, isOrdered, isMain }) {
    if (value === undefined || value === null) {
        return null;
    }
    if (isCode) {
        return html`<pre class="code-text" tabindex="0">${value}</pre>`;
    }
    if (Array.isArray(value) && value.every((one) => typeof one === "string")) {
        const List = isOrdered ? "ol" : "ul";
        return html`<${List} class="mb-0 ps-3">
            ${value.map((one) => html`<li class="body-text">${one}</li>`)}</${List}>`;
    }
    if (typeof value === "object") {
        return html`<code class="body-text">${JSON.stringify(value)}</code>`;
    }
    if (typeof value === "string" && DATE.test(value)) {
        return html`<time dateTime=${value}>${moment(value)}</time>`;
    }
    return isMain
        ? html`<${MarkdownText} text=${String(value)} />`
        : html`<p class="body-text">${String(value)}</p>`;
}
