// Unsaved input: leaving the page asks first. When the session ends, the input is kept in this tab's memory, for the
// same user only.

import { useLayoutEffect, useRef, useState } from "./view.js";

const held = new Set();
let kept = null;

/** Return whether the page has unsaved input. */
export function hasUnsaved() {
    return held.size > 0;
}

/** Return whether closing this tab would lose input. */
export function wouldLose() {
    return hasUnsaved() || kept !== null;
}

/** Discard all unsaved input. */
export function giveUp() {
    held.clear();
    kept = null;
}

/** Keep the input of this user after the end of the session. */
export function keepFor(user) {
    const drafts = [...held].filter(({ name }) => name).map(({ name, value }) => [name, value]);
    if (drafts.length > 0) {
        kept = { user, drafts: new Map(drafts) };
    }
}

/** Discard the kept input unless it is this user's. */
export function forgetUnless(user) {
    if (kept?.user !== user) {
        kept = null;
    }
}

/** Return the input kept under a name when the session ended, once; null if there is none. */
export function useKept(name) {
    return useState(() => take(name))[0];
}

/**
 * Mark the page as unsaved while `isUnsaved`; return a function that removes the mark after saving or cancelling.
 * With a `name`, `value` is kept after the end of the session.
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
