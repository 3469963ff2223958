// What is wrong, in a person's words, and where it is put right.

import { hrefOf } from "./router.js";

const BAD_LINE = "A line could not be read";
const TITLES = {
    notJson: BAD_LINE,
    notObject: BAD_LINE,
    badEncoding: "A line is not UTF-8 text",
    badNumber: "A line holds a number that is none",
    tooDeep: "A line is nested too deeply",
    tooLong: "A line is too long",
    duplicateKey: "A line names a field twice",
    unknownKind: "A line has a kind that is not known",
    foreignProject: "A line belongs to another project",
    invalidEntry: "A line is no valid entry",
    duplicateId: "The same id stands twice",
    held: "A large deletion waits for you",
    conflict: "Two edits met",
    configuration: "The configuration file has an error",
    embedder: "The embedding model is not in use",
    reranker: "The reranker is not in use",
    backups: "Backups cannot be made",
    storeUnavailable: "A store could not be opened",
    readOnly: "A store is read-only",
    newerSchema: "A store was written by a newer version",
    fileFailure: "A file cannot be read or written",
    journalDamaged: "The journal was damaged",
    saveKeptAside: "A save was kept aside",
};
const IN_THE_CONFIGURATION = ["configuration", "embedder", "reranker"];

/** Return what a problem is called. */
export function titleOf(problem) {
    return TITLES[problem.code] ?? problem.code.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
}

/** Return why, without the line, where that is told beside it. */
export function reasonOf({ line, reason }) {
    return line && reason.startsWith(`line ${line}: `) ? reason.slice(`line ${line}: `.length) : reason;
}

/** Say whether a problem is a line that can be corrected in its place. */
export function isLine(problem) {
    return Boolean(problem.project && problem.line);
}

/** Return where a problem is put right: `{ page, href, label }`. */
export function fixOf(problem) {
    if (IN_THE_CONFIGURATION.includes(problem.code)) {
        return { page: "configuration", href: hrefOf("configuration"), label: "Open the configuration" };
    }
    if (problem.code === "backups") {
        return { page: "backups", href: hrefOf("backups"), label: "Open the backups" };
    }
    const { project, line } = problem;
    return isLine(problem)
        ? { page: "problems", href: hrefOf("problems", [], { project, line }), label: "Fix the line" }
        : { page: "problems", href: hrefOf("problems", [], { project }), label: "Look at it" };
}
