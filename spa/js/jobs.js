// Backups that were ordered, and how far they are.

const UNDER_WAY = ["queued", "running"];

/** Say whether a job is still to be waited for. */
export function isUnderWay({ state }) {
    return UNDER_WAY.includes(state);
}
