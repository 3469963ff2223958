// Titles of problems, and the page where each is fixed.

import { hrefOf } from "./router.js";

const BAD_LINE = "A line could not be read";
const TITLES = {
    notJson: BAD_LINE,
    notObject: BAD_LINE,
    badEncoding: "A line is not UTF-8 text",
    badNumber: "A line contains an invalid number",
    tooDeep: "A line is nested too deeply",
    tooLong: "A line is too long",
    duplicateKey: "A line has a field twice",
    unknownKind: "A line has an unknown kind",
    foreignProject: "A line belongs to another project",
    invalidEntry: "A line is not a valid entry",
    duplicateId: "Two lines have the same id",
    held: "A large deletion is on hold",
    conflict: "Conflicting edits",
    configuration: "The configuration file has an error",
    embedder: "The embedding model is not in use",
    reranker: "The reranker is not in use",
    backups: "Backups fail",
    storeUnavailable: "A store could not be opened",
    readOnly: "A store is read-only",
    newerSchema: "A store was written by a newer version",
    fileFailure: "A file cannot be read or written",
    unfitFile: "A file cannot be opened",
    rootRights: "Other accounts can read the files",
    journalDamaged: "The journal was damaged",
    damagedFile: "A file of the server was damaged",
    saveKeptAside: "A saved file was set aside",
    olderBuffer: "A save came from an older buffer",
};
const IN_THE_CONFIGURATION = ["configuration", "embedder", "reranker"];

/** Return the title of a problem. */
export function titleOf(problem) {
    return TITLES[problem.code] ?? problem.code.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
}

/** Return the reason without its line number, which is shown beside it. */
export function reasonOf({ line, reason }) {
    return line && reason.startsWith(`line ${line}: `) ? reason.slice(`line ${line}: `.length) : reason;
}

/** Return whether a problem is a line that can be edited in place. */
export function isLine(problem) {
    return Boolean(problem.project && problem.line && problem.code !== "damagedFile");
}

/** Return where a problem is fixed: `{ page, href, label }`. */
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
        : { page: "problems", href: hrefOf("problems", [], { project }), label: "Show details" };
}
