// What waits for somebody, counted for the menu.

import * as api from "./api.js";
import { isAdmin, mayIn } from "./session.js";
import { signal } from "./view.js";

/** How many things wait, by the name of the page where they are dealt with. */
export const waiting = signal({});

let turn = 0;

/** Count anew; what cannot be counted now is not shown. */
export async function countWaiting(project) {
    const mine = ++turn;
    const [review, problems] = await Promise.all([
        project && mayIn(project, "curator") ? provisional(project) : 0,
        project && isAdmin.value ? problemsIn(project) : 0,
    ].map((one) => Promise.resolve(one).catch(() => 0)));
    if (mine === turn) {
        waiting.value = { review, problems };
    }
}

/** Return how many problems and conflicts a report of health names. */
export function troublesOf({ problems, stores }) {
    return problems.length + stores.reduce((sum, store) => sum + store.conflicts, 0);
}

async function provisional(project) {
    const { byCurationTier } = await api.command(project, "stats");
    return byCurationTier.provisional ?? 0;
}

async function problemsIn(project) {
    return troublesOf(await api.command(project, "health"));
}
