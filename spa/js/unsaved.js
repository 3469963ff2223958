// What was typed and is not saved: the page is not left over it without a question. When the session ends it is kept in
// the memory of this tab, for the same user alone.

import { useLayoutEffect, useRef, useState } from "./view.js";

const held = new Set();
let kept = null;

/** Say whether something on screen is not saved. */
export function hasUnsaved() {
    return held.size > 0;
}

/** Say whether something typed would be gone with this tab. */
export function wouldLose() {
    return hasUnsaved() || kept !== null;
}

/** Give up everything that is not saved. */
export function giveUp() {
    held.clear();
    kept = null;
}

/** Keep what this user has typed over the end of the session. */
export function keepFor(user) {
    const drafts = [...held].filter(({ name }) => name).map(({ name, value }) => [name, value]);
    if (drafts.length > 0) {
        kept = { user, drafts: new Map(drafts) };
    }
}

/** Forget what was kept unless it is this user's. */
export function forgetUnless(user) {
    if (kept?.user !== user) {
        kept = null;
    }
}

/** Return what was kept under a name when the session ended, once; null when nothing was. */
export function useKept(name) {
    return useState(() => take(name))[0];
}

/**
 * Hold the page while `isUnsaved`; return what lets go of it, for whoever saved it or gave it up.
 * With a `name`, `value` outlives the end of the session.
 */
export function useUnsaved(isUnsaved, name, value) {
    const mark = useRef({}).current;
    Object.assign(mark, { name, value });
    const release = () => held.delete(mark);
    useLayoutEffect(() => {
        if (isUnsaved) {
            held.add(mark);
        }
        return release;
    }, [isUnsaved]);
    return release;
}

function take(name) {
    const value = kept?.drafts.get(name) ?? null;
    if (value !== null) {
        kept.drafts.delete(name);
        kept = kept.drafts.size > 0 ? kept : null;
    }
    return value;
}
