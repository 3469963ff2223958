// Saved searches: a name for the search text and filters of a list, kept in this browser for each project.

import { FILTERS } from "./filters.js";

const KEY = "qms-searches";
const MOST = 30;
const LONGEST_NAME = 60;
const SAVED = ["q", "sort", ...FILTERS];

/** Return the part of a URL query that a search consists of. */
export function searchOf(query) {
    return Object.fromEntries(SAVED.filter((name) => query[name]).map((name) => [name, query[name]]));
}

/** Return whether two URL queries are the same search. */
export function isSame(one, other) {
    return JSON.stringify(searchOf(one)) === JSON.stringify(searchOf(other));
}

/** Return the searches with one more, or with a new meaning for its name; the oldest goes when there are too many. */
export function withSearch(searches, name, query) {
    const short = name.trim().slice(0, LONGEST_NAME);
    return [...searches.filter((one) => one.name !== short), { name: short, query: searchOf(query) }].slice(-MOST);
}

/** Return the saved searches of a project: `[{ name, query }]`. */
export function readSearches(project, storage = globalThis.localStorage) {
    const found = all(storage)[project];
    return Array.isArray(found) ? found.filter((one) => typeof one?.name === "string" && one.query) : [];
}

/** Keep the searches of a project. */
export function writeSearches(project, searches, storage = globalThis.localStorage) {
    const { [project]: _before, ...others } = all(storage);
    try {
        storage.setItem(KEY, JSON.stringify(searches.length ? { ...others, [project]: searches } : others));
    } catch {
        // Storage is disabled or full: they last until the page is left.
    }
}

function all(storage) {
    try {
        const found = JSON.parse(storage.getItem(KEY) ?? "{}");
        return typeof found === "object" && found !== null ? found : {};
    } catch {
        return {};
    }
}
