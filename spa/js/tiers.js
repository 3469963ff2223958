// Who may do what: the order of tiers, and what each one opens on this page.

export const TIERS = ["none", "reader", "writer", "curator", "admin"];

const TO_EDIT = { provisional: "writer", curated: "curator", canonical: "admin" };
const TO_SET = { curationTier: "curator", pinned: "curator", isPermanent: "admin" };

/** What each tier can do, in words that follow “can”. */
export const MEANINGS = {
    none: "open nothing until an admin lists one in a project",
    reader: "read, search and export",
    writer: "read and write, and edit what nobody has approved yet",
    curator: "write, review, pin, and edit curated entries",
    admin: "do everything, and look after users, projects and the server",
};

/** Say whether `tier` is `least` or above it. */
export function isAtLeast(tier, least) {
    return TIERS.indexOf(tier) >= TIERS.indexOf(least);
}

/** Say whether a tier may edit or delete this entry. */
export function mayEdit(tier, entry) {
    const least = entry.isPermanent ? "admin" : TO_EDIT[entry.curationTier ?? "provisional"];
    return isAtLeast(tier, least);
}

/** Say whether a tier may change this field of an entry. */
export function maySet(tier, field) {
    return isAtLeast(tier, TO_SET[field] ?? "writer");
}
