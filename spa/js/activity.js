// Recent activity: one line for each change, recall or event, from the audit log and the recent recalls.

import { words } from "./formatting.js";

const DOES = { create: "stored", update: "changed", delete: "removed", archive: "removed", restore: "restored" };
const NAMED = {
    restoreEntry: "restored", bulkImport: "imported", forgetEntries: "removed", deleteEntry: "removed",
    moveEntry: "moved", copyEntry: "copied", linkEntries: "linked", promoteEntry: "approved", undoForget: "restored",
    searchEntries: "found", recall: "recalled", openSession: "signed in", closeSession: "signed out",
    scheduledBackup: "made a scheduled backup",
};
/** Changes that no one asked for by name, such as counts of use. */
const QUIET = ["touch"];

export const WHATS = ["stored", "changed", "recalled", "removed", "events"];

/** Return lines, the newest first: `{ key, atUtc, who, user, verb, what, project, ids, more }`. */
export function linesOf({ items, recalls = [] }) {
    const changes = items.filter(({ command }) => !QUIET.includes(command)).map(lineOfRecord);
    const reads = recalls.map((one, at) => ({
        key: `recall ${one.atUtc} ${at}`, atUtc: one.atUtc, who: one.agentId ?? one.user, user: one.user,
        verb: NAMED[one.command] ?? one.command, what: "recalled", project: one.project, ids: one.ids, more: 0,
    }));
    return [...changes, ...reads].sort((one, other) => other.atUtc.localeCompare(one.atUtc));
}

/** Return the agents and users of lines, by name. */
export function actorsOf(lines) {
    return [...new Set(lines.map(({ who }) => who))].sort();
}

const SHOWN = 5;

function lineOfRecord(record) {
    const { seq, atUtc, user, agentId, project, command, changes } = record;
    const [first] = changes;
    const isEvent = record.isEvent === true || !project;
    const verb = NAMED[command] ?? DOES[first?.op] ?? command;
    return {
        key: `record ${seq}`, atUtc, who: agentId ?? user, user, project,
        verb: isEvent ? NAMED[command] ?? words(command).toLowerCase() : verb,
        what: isEvent ? "events" : whatOf(first?.op, verb),
        ids: isEvent ? [] : changes.slice(0, SHOWN).map(({ id }) => id),
        more: isEvent ? 0 : Math.max(0, changes.length - SHOWN),
    };
}

function whatOf(op, verb) {
    if (verb === "removed" || verb === "stored") {
        return verb;
    }
    return op === "create" ? "stored" : "changed";
}
