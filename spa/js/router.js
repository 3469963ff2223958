// Routing: the URL fragment is the state, with page, path and filters.

import { giveUp, hasUnsaved, wouldLose } from "./unsaved.js";
import { signal } from "./view.js";

/** Parse a fragment: `#/entries/projA?q=x` → page, path, query. */
export function parsePlace(fragment) {
    const [path, query] = split(fragment.replace(/^#/, ""), "?");
    const parts = path.split("/").filter(Boolean).map(decode);
    return {
        page: parts[0] ?? "",
        path: parts.slice(1),
        query: Object.fromEntries(new URLSearchParams(query)),
    };
}

/** Return a fragment; empty values of the query are left out. */
export function hrefOf(page, path = [], query = {}) {
    const given = Object.entries(query).filter(([, value]) => value != null && value !== "");
    const parts = [page, ...path].map(encodeURIComponent).join("/");
    return `#/${parts}${given.length ? `?${new URLSearchParams(given)}` : ""}`;
}

/** Return the one-time token of a setup link, or null. */
export function setupTokenOf(fragment) {
    return fragment.startsWith("#setup=") ? decode(fragment.slice("#setup=".length)) : null;
}

/** The current page, path and query. */
export const place = signal(parsePlace(""));
/** The fragment of a navigation that waits because of unsaved input, or null. */
export const wanted = signal(null);

let shown = "";

/** Start to follow the URL. */
export function startRouting() {
    addEventListener("hashchange", () => {
        if (hasUnsaved() && location.hash !== shown) {
            wanted.value = location.hash;
            history.pushState(null, "", shown);
        } else {
            show(location.hash);
        }
    });
    addEventListener("beforeunload", (event) => wouldLose() && event.preventDefault());
    show(location.hash);
}

/** Discard unsaved input and continue the navigation that waits. */
export function leave() {
    giveUp();
    location.hash = wanted.peek();
}

/** Navigate; with `replace` the current page is not kept in the history. */
export function go(page, path, query, { replace = false } = {}) {
    const href = hrefOf(page, path, query);
    if (hasUnsaved() && href !== shown) {
        wanted.value = href;
    } else if (replace) {
        history.replaceState(null, "", href);
        show(href);
    } else {
        location.hash = href;
    }
}

/** Change some values of the current query. */
export function setQuery(changes, options) {
    const { page, path, query } = place.peek();
    go(page, path, { ...query, ...changes }, options);
}

function show(fragment) {
    shown = fragment;
    place.value = parsePlace(fragment);
}

function split(text, mark) {
    const at = text.indexOf(mark);
    return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function decode(text) {
    try {
        return decodeURIComponent(text);
    } catch {
        return text;
    }
}
