// States of backup jobs.

const UNDER_WAY = ["queued", "running"];

/** Return whether a job is queued or running. */
export function isUnderWay({ state }) {
    return UNDER_WAY.includes(state);
}
