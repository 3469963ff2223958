// What was typed and is not saved: the page is not left over it without a question.

import { useLayoutEffect, useRef } from "./view.js";

const held = new Set();

/** Say whether something on screen is not saved. */
export function hasUnsaved() {
    return held.size > 0;
}

/** Give up everything that is not saved. */
export function giveUp() {
    held.clear();
}

/** Hold the page while `isUnsaved`; return what lets go of it, for whoever saved it or gave it up. */
export function useUnsaved(isUnsaved) {
    const mark = useRef({}).current;
    const release = () => held.delete(mark);
    useLayoutEffect(() => {
        if (isUnsaved) {
            held.add(mark);
        }
        return release;
    }, [isUnsaved]);
    return release;
}
