// Hooks that load data from the server.

import { ask } from "./api.js";
import { useCallback, useEffect, useRef, useState } from "./view.js";

/** Fetch with `load` whenever `inputs` change; return `{ data, error, isLoading, reload }`. */
export function useLoaded(load, inputs) {
    const [state, setState] = useState({ data: null, error: null, isLoading: true });
    const latest = useRef(0);
    const run = useCallback(async () => {
        const turn = ++latest.current;
        setState((before) => ({ ...before, isLoading: true }));
        try {
            const data = await load();
            if (turn === latest.current) {
                setState({ data, error: null, isLoading: false });
            }
        } catch (error) {
            if (turn === latest.current) {
                setState({ data: null, error, isLoading: false });
            }
        }
    }, inputs);
    useEffect(() => {
        run();
        return () => {
            latest.current += 1;
        };
    }, [run]);
    return { ...state, reload: run };
}

/** Call `action` every `seconds` while the page is visible; `action` must send its requests synchronously. */
export function useEvery(seconds, action) {
    const current = useRef(action);
    current.current = action;
    useEffect(() => {
        const timer = setInterval(() => {
            if (!document.hidden) {
                ask(current.current);
            }
        }, seconds * 1000);
        return () => clearInterval(timer);
    }, [seconds]);
}
