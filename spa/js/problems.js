// What is wrong, in a person's words, and where it is put right.

import { hrefOf } from "./router.js";

const TITLES = {
    badLine: "A line could not be read",
    duplicateId: "The same id stands twice",
    held: "A large deletion waits for you",
    conflict: "Two edits met",
    configuration: "The configuration file has an error",
    embedder: "The embedding model is not in use",
    reranker: "The reranker is not in use",
    storeUnavailable: "A store could not be opened",
    readOnly: "A store is read-only",
    newerSchema: "A store was written by a newer version",
};

/** Return what a problem is called. */
export function titleOf(problem) {
    return TITLES[problem.code] ?? problem.code.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
}

/** Return where a problem is put right: `{ href, label }`. */
export function fixOf(problem) {
    if (["configuration", "embedder", "reranker"].includes(problem.code)) {
        return { page: "configuration", href: hrefOf("configuration"), label: "Open the configuration" };
    }
    return { page: "problems", href: hrefOf("problems", [], { project: problem.project }), label: "Look at it" };
}
