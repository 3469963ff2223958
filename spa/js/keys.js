// Keyboard shortcuts: components register them while they are on screen, the help lists them.

import { signal, useLayoutEffect, useRef } from "./view.js";

/** The registered shortcuts, for the help: groups of `[key, what it does]`. */
export const shown = signal([]);

const handlers = [];
const TYPED_INTO = "input, textarea, select, [contenteditable], .editor";

addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) {
        return;
    }
    const isTyping = event.composedPath()[0]?.closest?.(TYPED_INTO)
        || event.target.closest?.(TYPED_INTO);
    if ((isTyping && event.key !== "Escape") || document.querySelector("dialog[open]")) {
        return;
    }
    const found = handlers.findLast((one) => one.current[event.key]);
    if (found) {
        event.preventDefault();
        found.current[event.key].run(event);
    }
});

/** Register shortcuts while a component is on screen: `{ key: { does, run } }`. */
export function useKeys(title, keys) {
    const current = useRef(keys);
    current.current = keys;
    // Before the paint: a key may be pressed as soon as the page is visible.
    useLayoutEffect(() => {
        handlers.push(current);
        const group = {
            title,
            list: () => Object.entries(current.current).map(([key, { does }]) => [key, does]),
        };
        shown.value = [...shown.peek(), group];
        return () => {
            handlers.splice(handlers.indexOf(current), 1);
            shown.value = shown.peek().filter((one) => one !== group);
        };
    }, [title]);
}
