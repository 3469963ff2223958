// The first steps on a new server, and which of them are done.

/** With more entries than this, a server is in use and needs no first steps. */
const FEW = 20;

/** Return the steps, `[{ name, isDone }]`; `keys` and `imports` are null for users who may not see them. */
export function stepsOf({ user, stores, keys, imports }) {
    const entries = entriesIn(stores);
    const isConnected = (keys ?? []).some((key) => key.user !== user && key.lastUsedUtc);
    return [
        { name: "connect", isDone: isConnected },
        { name: "write", isDone: entries > 0 },
        { name: "import", isDone: (imports ?? 0) > 0 },
    ];
}

/** Return whether to show the steps: on a server with few entries, until all are done. */
export function areNeeded(stores, steps) {
    return stores.every(({ loaded }) => loaded) && entriesIn(stores) < FEW && steps.some(({ isDone }) => !isDone);
}

function entriesIn(stores) {
    return stores.reduce((sum, store) => sum + store.entries, 0);
}
