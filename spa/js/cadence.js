// When backups are due, in words: the usual cadences and the cron expressions that they are.

/** The cadences that a person picks from; any other is written by hand. */
export const CADENCES = [
    ["0 3 * * *", "Every night at 3"],
    ["0 */6 * * *", "Every six hours"],
    ["0 * * * *", "Every hour"],
    ["0 3 * * 0", "Every Sunday at 3"],
    ["", "Never by the clock"],
];

/** Return a cadence in words. */
export function inWords(cadence) {
    return CADENCES.find(([cron]) => cron === cadence)?.[1] ?? `By the cron expression ${cadence}`;
}
