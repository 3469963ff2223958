// Operations on entries that several pages use.

import * as api from "./api.js";
import { projectOf } from "./formatting.js";
import { complain, endOffers, say } from "./parts/toasts.js";

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

/** Change some fields; fails if the entry is no longer at `ifVersion`. */
export function patchEntry(id, patch, ifVersion) {
    endOffers(id);
    return api.command(projectOf(id), "patchEntry", { id, patch, ifVersion });
}

/** Move an entry to the archive and offer to undo it. */
export async function removeEntry(entry, { version, force, onChange }) {
    const project = projectOf(entry.id);
    await api.command(project, "deleteEntry", { id: entry.id, ifVersion: version, force });
    onChange();
    say(`“${shortened(entry.title)}” moved to the archive.`, {
        label: "Undo",
        id: entry.id,
        run: () => restore(project, entry.id, onChange),
    });
}

/** Restore an archived entry: its last version, or the one archived at `archivedUtc`. */
export async function restore(project, id, onChange, archivedUtc) {
    endOffers(id);
    try {
        await api.command(project, "restoreEntry", { id, archivedUtc });
        say("Restored.");
        onChange();
    } catch (error) {
        complain(error);
    }
}

/** Return the draft of a copy of an entry. */
export function copyOf(entry) {
    const { id, timestamps, version, curationTier, pinned, isPermanent, ttlUtc, embedding, ...rest } = entry;
    return { ...rest, title: `${entry.title} (copy)` };
}

/** Return a title short enough for a sentence. */
export function shortened(title, most = 60) {
    return title.length > most ? `${title.slice(0, most - 1)}…` : title;
}
