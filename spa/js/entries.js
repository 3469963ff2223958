// What is done to entries, whichever page it is done from.

import * as api from "./api.js";
import { projectOf } from "./formatting.js";
import { complain, say } from "./parts/toasts.js";

let schema = null;

/** Return the JSON Schema of entries, fetched once. */
export function entrySchema() {
    schema ??= api.publicDocument("/docs/schema").catch((error) => {
        schema = null;
        throw error;
    });
    return schema;
}

/** Return an entry and its version. */
export function getEntry(project, id) {
    return api.command(project, "getEntry", { id });
}

/** Change some fields; what the caller has seen is `ifVersion`. */
export function patchEntry(id, patch, ifVersion) {
    return api.command(projectOf(id), "patchEntry", { id, patch, ifVersion });
}

/** Move an entry to the archive and offer the way back. */
export async function removeEntry(entry, { version, force, onChange }) {
    const project = projectOf(entry.id);
    await api.command(project, "deleteEntry", { id: entry.id, ifVersion: version, force });
    onChange();
    say(`“${shortened(entry.title)}” went to the archive.`, {
        label: "Undo",
        run: () => restore(project, entry.id, onChange),
    });
}

/** Bring an archived entry back: its last version, or the one archived then. */
export async function restore(project, id, onChange, archivedUtc) {
    try {
        await api.command(project, "restoreEntry", { id, archivedUtc });
        say("It is back.");
        onChange();
    } catch (error) {
        complain(error);
    }
}

/** Return an entry as the beginning of another one. */
export function copyOf(entry) {
    const { id, timestamps, version, curationTier, pinned, isPermanent, ttlUtc, embedding, ...rest } = entry;
    return { ...rest, title: `${entry.title} (copy)` };
}

/** Return a title short enough for a sentence. */
export function shortened(title, most = 60) {
    return title.length > most ? `${title.slice(0, most - 1)}…` : title;
}
