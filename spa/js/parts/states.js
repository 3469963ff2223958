// The states of a page without data: loading, empty, failed.

import { html } from "../view.js";
import { Icon } from "./icon.js";

export function Loading({ what = "Loading" }) {
    return html`<div class="skeleton" role="status" aria-label=${what}>
        <span></span><span></span><span></span><span></span><span></span>
    </div>`;
}

export function Empty({ icon = "journal-text", title, children }) {
    return html`<div class="state">
        <${Icon} name=${icon} />
        <strong>${title}</strong>
        ${children}
    </div>`;
}

export function Failed({ error, retry }) {
    return html`<div class="state" role="alert">
        <${Icon} name="exclamation-triangle" />
        <strong>${headline(error)}</strong>
        <p>${error.message}</p>
        ${retry && html`<button class="btn btn-quiet" onClick=${retry}>Retry</button>`}
    </div>`;
}

export function Notice({ tone = "info", icon = "info-circle", children }) {
    return html`<div class=${`notice ${tone}`} role=${tone === "bad" ? "alert" : "note"}>
        <${Icon} name=${icon} /><div>${children}</div>
    </div>`;
}

function headline(error) {
    switch (error.code) {
        case "unreachable": return "Server unreachable";
        case "notAllowed": return "Access denied";
        case "notFound": return "Not found";
        case "rateLimited": return "Too many requests";
        default: return "Something went wrong";
    }
}

/** Render `children(data)` when the data is loaded, else the loading or error state. */
export function Loaded({ from, what, children }) {
    if (from.error) {
        return html`<${Failed} error=${from.error} retry=${from.reload} />`;
    }
    return from.data === null ? html`<${Loading} what=${what} />` : children(from.data);
}
