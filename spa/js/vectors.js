// Formats how many entries have vectors, while some are missing.

import { count, plural } from "./formatting.js";

const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;

/** Return a sentence for the answer of a search, or an empty text if all entries have vectors. */
export function vectorsLine({ vectors, mode }) {
    if (!vectors || vectors.done === vectors.total) {
        return "";
    }
    const what = mode === "keyword+hash" ? "Vectors" : "Compared by meaning";
    const { done, total, secondsLeft } = vectors;
    return `${what}: ${count(done)} of ${plural(total, "entry", "entries")}; the rest follows${inAbout(secondsLeft)}.`;
}

function inAbout(seconds) {
    if (typeof seconds !== "number") {
        return "";
    }
    if (seconds < 2 * MINUTE_S) {
        return ` in about ${plural(seconds, "second")}`;
    }
    return seconds < 2 * HOUR_S
        ? ` in about ${plural(Math.round(seconds / MINUTE_S), "minute")}`
        : ` in about ${plural(Math.round(seconds / HOUR_S), "hour")}`;
}
