// What waits for somebody, counted for the menu.

import * as api from "./api.js";
import { isAdmin, mayIn } from "./session.js";
import { signal } from "./view.js";

/** How many things wait, by the name of the page where they are dealt with. */
export const waiting = signal({});

let turn = 0;
let last = { project: null, review: 0, counted: null, seen: null };

/** Count anew; what cannot be counted now is not shown. */
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
        // What is written while both are asked for is counted the next time.
        last = { project, review, seen, counted: last.project === project ? last.seen : null };
        show(health);
    }
}

/** Look again, as a page does by itself: entries are counted only when something was written since. */
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

/** Return how many problems and conflicts a report of health names. */
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
