// The way through a list that is read page by page: each page knows only the next one, the way back is remembered.

import { setQuery } from "../router.js";
import { html, useEffect } from "../view.js";

const LONGEST_TRAIL = 1000;
const trail = new Map();

/** Offer the pages around the one at `cursor`; `go(cursor)` opens one, and the first has none. */
export function Pager({ cursor = "", next, go, names = ["First page", "Previous page", "Next page"] }) {
    if (!cursor && !next) {
        return null;
    }
    const [first, previous, following] = names;
    const open = (wanted) => {
        go(wanted);
        scrollTo({ top: 0, behavior: "instant" });
    };
    const onward = () => {
        remember(next, cursor);
        open(next);
    };
    return html`<nav class="pager" aria-label="Pages of the list">
        <button class="btn btn-quiet btn-sm" disabled=${!cursor} onClick=${() => open("")}>${first}</button>
        <button class="btn btn-quiet btn-sm ms-auto" disabled=${!trail.has(cursor)}
            onClick=${() => open(trail.get(cursor))}>${previous}</button>
        <button class="btn btn-quiet btn-sm" disabled=${!next} onClick=${onward}>${following}</button>
    </nav>`;
}

/** Begin again when the server does not know the page any more, as after its restart. */
export function useFreshStart(error) {
    const isStale = error?.details?.field === "page.cursor";
    useEffect(() => {
        if (isStale) {
            setQuery({ cursor: "" }, { replace: true });
        }
    }, [isStale]);
}

function remember(cursor, before) {
    trail.set(cursor, before);
    if (trail.size > LONGEST_TRAIL) {
        trail.delete(trail.keys().next().value);
    }
}
