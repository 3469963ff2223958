// Pagination by cursor: a page knows only the next one, so the cursors of previous pages are remembered. The number of
// the page is in the URL beside its cursor.

import { rangeOf } from "../formatting.js";
import { setQuery } from "../router.js";
import { html, useEffect } from "../view.js";

const LONGEST_TRAIL = 1000;
const trail = new Map();

/**
 * Offer the pages before and after `cursor`; the first one has none. `go({ cursor, page })` opens a page. `shown` is
 * the number of items on this page, `size` that of a full one, `total` that of the list if it is known.
 */
export function Pager({
    cursor = "", page = "", next, go, shown, size, total, names = ["First page", "Previous page", "Next page"],
}) {
    if (!cursor && !next && total === undefined) {
        return null;
    }
    const [first, previous, following] = names;
    const number = cursor ? Number(page) || null : 1;
    const open = (wanted, at) => {
        go({ cursor: wanted, page: wanted && at ? String(at) : "" });
        scrollTo({ top: 0, behavior: "instant" });
    };
    const onward = () => {
        remember(next, cursor);
        open(next, number && number + 1);
    };
    return html`<nav class="pager" aria-label="Pages of the list">
        <span class="me-auto">${rangeOf({ number, shown, size, total })}</span>
        ${(cursor || next) && html`
        <button class="btn btn-quiet btn-sm" disabled=${!cursor} onClick=${() => open("")}>${first}</button>
        <button class="btn btn-quiet btn-sm" disabled=${!trail.has(cursor)}
            onClick=${() => open(trail.get(cursor), number && number - 1)}>${previous}</button>
        <button class="btn btn-quiet btn-sm" disabled=${!next} onClick=${onward}>${following}</button>`}
    </nav>`;
}

/** Go to the first page when the cursor is no longer valid, as after a restart of the server. */
export function useFreshStart(error) {
    const isStale = error?.details?.field === "page.cursor";
    useEffect(() => {
        if (isStale) {
            setQuery({ cursor: "", page: "" }, { replace: true });
        }
    }, [isStale]);
}

function remember(cursor, before) {
    trail.set(cursor, before);
    if (trail.size > LONGEST_TRAIL) {
        trail.delete(trail.keys().next().value);
    }
}
