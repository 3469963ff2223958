// Access tiers: their order, and what each one may do on this page.

export const TIERS = ["none", "reader", "writer", "curator", "admin"];

const TO_EDIT = { provisional: "writer", curated: "curator", canonical: "admin" };
const TO_SET = { curationTier: "curator", pinned: "curator", isPermanent: "admin" };

/** What each tier can do, in words that follow “can”. */
export const MEANINGS = {
    none: "access only projects with an explicit permission",
    reader: "read, search and export",
    writer: "read and write, and edit provisional entries",
    curator: "write, review, pin, and edit curated entries",
    admin: "do everything, including users, projects and the server",
};

/** Return whether `tier` is at least `least`. */
export function isAtLeast(tier, least) {
    return TIERS.indexOf(tier) >= TIERS.indexOf(least);
}

/** Return whether a tier may edit or delete this entry. */
export function mayEdit(tier, entry) {
    const least = entry.isPermanent ? "admin" : TO_EDIT[entry.curationTier ?? "provisional"];
    return isAtLeast(tier, least);
}

/** Return whether a tier may change this field of an entry. */
export function maySet(tier, field) {
    return isAtLeast(tier, TO_SET[field] ?? "writer");
}
