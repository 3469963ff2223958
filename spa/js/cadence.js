// Backup schedules: the common cron expressions and their names.

/** The schedules that a dialog offers; any other cron expression can be typed. */
export const CADENCES = [
    ["0 3 * * *", "Daily at 03:00"],
    ["0 */6 * * *", "Every 6 hours"],
    ["0 * * * *", "Every hour"],
    ["0 3 * * 0", "Sundays at 03:00"],
    ["", "Off"],
];

/** Return the name of a schedule. */
export function inWords(cadence) {
    return CADENCES.find(([cron]) => cron === cadence)?.[1] ?? `Cron: ${cadence}`;
}
