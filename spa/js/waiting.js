// Counts of the menu: entries to review, and problems.

import * as api from "./api.js";
import { isAdmin, mayIn } from "./session.js";
import { signal } from "./view.js";

/** The counts by page name. */
export const waiting = signal({});

let turn = 0;
let last = { project: null, review: 0, counted: null, seen: null };

/** Update the counts; one that cannot be fetched is not shown. */
export async function countWaiting(project) {
    if (!project) {
        return;
    }
    const mine = ++turn;
    const [review, health] = await Promise.all([
        isReviewer(project) ? provisional(project) : 0,
        isReviewer(project) || isAdmin.value ? api.command(project, "health") : null,
    ].map((one) => Promise.resolve(one).catch(() => null)));
    if (mine === turn) {
        const seen = sequenceOf(health, project);
        // A write between the two requests is counted the next time.
        last = { project, review, seen, counted: last.project === project ? last.seen : null };
        show(health);
    }
}

/** Update the counts from a timer: entries are counted again only after a write. */
export async function lookAgain(project) {
    if (last.project !== project || last.review === null || last.seen !== last.counted) {
        countWaiting(project);
        return;
    }
    if (!isReviewer(project) && !isAdmin.value) {
        return;
    }
    const mine = ++turn;
    const health = await api.command(project, "health").catch(() => null);
    if (mine === turn) {
        last.seen = sequenceOf(health, project);
        show(health);
    }
}

/** Return the number of problems and conflicts in a health report. */
export function troublesOf({ problems, stores }) {
    return problems.length + stores.reduce((sum, store) => sum + store.conflicts, 0);
}

function isReviewer(project) {
    return mayIn(project, "curator");
}

function show(health) {
    waiting.value = {
        review: last.review ?? 0,
        problems: health && isAdmin.value ? troublesOf(health) : 0,
    };
}

function sequenceOf(health, project) {
    return health?.stores.find(({ name }) => name === project)?.sequence ?? null;
}

async function provisional(project) {
    const { byCurationTier } = await api.command(project, "stats");
    return byCurationTier.provisional ?? 0;
}
