// Formats numbers, sizes and times, in the time zone of the browser.

const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;
const DAY_S = 24 * HOUR_S;
const UNITS = [["day", DAY_S], ["hour", HOUR_S], ["minute", MINUTE_S]];
const RECENT_S = 30 * DAY_S;

const SIZES = ["B", "KB", "MB", "GB", "TB"];

/** Return a count with separators. */
export function count(number) {
    return new Intl.NumberFormat().format(number);
}

/** Return `1 entry`, `2 entries`. */
export function plural(number, one, many = `${one}s`) {
    return `${count(number)} ${number === 1 ? one : many}`;
}

/** Return the part of a list that a page shows: `51–100 of 1,234, page 2 of 25`, as far as it is known. */
export function rangeOf({ number, shown, size, total }) {
    if (!number) {
        return total === undefined ? "" : `${count(total)} in total`;
    }
    const from = (number - 1) * size + 1;
    const range = shown ? `${count(from)}–${count(from + shown - 1)}` : "";
    if (total === undefined) {
        return `${range}, page ${count(number)}`;
    }
    const last = Math.max(number, Math.ceil(total / size));
    return `${range} of ${count(total)}${last > 1 ? `, page ${count(number)} of ${count(last)}` : ""}`;
}

/** Return a size in bytes with a unit. */
export function size(bytes) {
    let value = bytes;
    let unit = 0;
    while (value >= 1000 && unit < SIZES.length - 1) {
        value /= 1000;
        unit += 1;
    }
    return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${SIZES[unit]}`;
}

/** Return a relative time such as "5 minutes ago", or the date if it is more than 30 days away. */
export function ago(utc, now = new Date()) {
    if (!utc) {
        return "never";
    }
    const moment = new Date(utc);
    const seconds = (moment - now) / 1000;
    const distance = Math.abs(seconds);
    if (distance < 45) {
        return seconds > 0 ? "in a moment" : "just now";
    }
    if (distance > RECENT_S) {
        return moment.toLocaleDateString(undefined, { dateStyle: "medium" });
    }
    const [unit, length] = UNITS.find(([, one]) => distance >= one) ?? UNITS.at(-1);
    const words = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
    return words.format(Math.round(seconds / length), unit);
}

/** Return date, time and time zone. */
export function moment(utc) {
    return new Date(utc).toLocaleString(undefined, {
        year: "numeric", month: "short", day: "numeric",
        hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short",
    });
}

/** Return a time as the value of an `<input type="datetime-local">`. */
export function toLocalInput(utc) {
    if (!utc) {
        return "";
    }
    const date = new Date(utc);
    if (Number.isNaN(date.getTime())) {
        return "";
    }
    const shifted = new Date(date.getTime() - date.getTimezoneOffset() * MINUTE_S * 1000);
    return shifted.toISOString().slice(0, 19);
}

/** Return the value of such an input as UTC. */
export function fromLocalInput(text) {
    return text ? new Date(text).toISOString() : null;
}

/** Return `codeSnippet` as `Code snippet`, and `dueUtc` as `Due`: times are shown in the local time zone. */
export function words(name) {
    const spaced = name.replace(/Utc$/, "").replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase();
    return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}

/** Return the local part of an id: what comes after its project. */
export function localId(id) {
    const at = id.indexOf(":");
    return at < 0 ? id : id.slice(at + 1);
}

/** Return the project of an id. */
export function projectOf(id) {
    return id.slice(0, Math.max(id.indexOf(":"), 0));
}

/** Split a snippet into pieces; those between `**` are marked. */
export function markedPieces(snippet) {
    return snippet.split("**").map((text, at) => ({ text, isMarked: at % 2 === 1 }))
        .filter(({ text }) => text !== "");
}
