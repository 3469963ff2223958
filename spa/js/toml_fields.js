// Reads and writes single settings in the text of the configuration, and leaves everything else in it as it is.

const HEADER = /^\s*\[([^[\]]+)\]\s*(#.*)?$/;
const ANY_HEADER = /^\s*\[/;

/** Return `{ value, line, isComplex }` of a setting: undefined when not set; complex ones are edited in the text. */
export function readField(text, section, key) {
    const found = locate(text.split("\n"), section, key);
    if (found.at === undefined) {
        return { value: undefined };
    }
    const { value } = splitValue(found.written);
    const parsed = parseValue(value);
    return { value: parsed, line: found.at + 1, isComplex: parsed === undefined };
}

/** Return the text with a setting written, or removed when the value is undefined. */
export function writeField(text, section, key, value) {
    const lines = text.split("\n");
    const { at, written, head, end } = locate(lines, section, key);
    if (at !== undefined) {
        const start = lines[at].slice(0, lines[at].length - written.length);
        const { comment } = splitValue(written);
        lines.splice(at, 1, ...(value === undefined ? [] : [`${start}${format(value)}${comment}`]));
    } else if (value !== undefined && head !== undefined) {
        lines.splice(end, 0, `${key} = ${format(value)}`);
    } else if (value !== undefined) {
        const gap = text === "" || text.endsWith("\n\n") ? [] : text.endsWith("\n") ? [""] : ["", ""];
        return `${text}${gap.join("\n")}${gap.length === 1 ? "\n" : ""}[${section}]\n${key} = ${format(value)}\n`;
    }
    return lines.join("\n");
}

/** Find the line of a key in its section, or where the section ends; a key may also be dotted in the section above. */
function locate(lines, section, key) {
    const parent = section.split(".").slice(0, -1).join(".");
    const dotted = `${section.split(".").at(-1)}.${key}`;
    let current = "";
    let place = {};
    for (const [at, line] of lines.entries()) {
        const header = HEADER.exec(line);
        if (header || ANY_HEADER.test(line)) {
            current = header ? header[1].split(".").map((part) => part.trim()).join(".") : null;
            place = current === section ? { head: at, end: at + 1 } : place;
        } else if (current === section && line.trim() !== "") {
            place = { ...place, end: at + 1 };
        }
        const name = current === section ? key : parent && current === parent ? dotted : null;
        const written = name && afterKey(line, name);
        if (written) {
            return { at, written };
        }
    }
    return place;
}

function afterKey(line, name) {
    const trimmed = line.trimStart();
    const rest = trimmed.startsWith(name) ? trimmed.slice(name.length).trimStart() : "";
    return rest.startsWith("=") ? rest.slice(1).trimStart() : null;
}

/** Split what follows the equals sign into the value and the comment after it. */
function splitValue(written) {
    const quote = /^(["'])/.exec(written)?.[1];
    const end = quote ? closing(written, quote) + 1 : written.startsWith("[") ? written.indexOf("]") + 1
        : written.search(/\s*(#|$)/);
    return end > 0 ? { value: written.slice(0, end), comment: written.slice(end) } : { value: written, comment: "" };
}

function closing(text, quote) {
    for (let at = 1; at < text.length; at += 1) {
        if (text[at] === "\\" && quote === '"') {
            at += 1;
        } else if (text[at] === quote) {
            return at;
        }
    }
    return -1;
}

/** Return a text, number, boolean or list of texts; undefined for anything else. */
function parseValue(value) {
    if (/^'[^']*'$/.test(value)) {
        return value.slice(1, -1);
    }
    try {
        const plain = value.replace(/^\+/, "").replace(/^-?\d[\d_]*$/, (digits) => digits.replaceAll("_", ""));
        const parsed = JSON.parse(plain.replace(/,\s*\]$/, "]"));
        const isTexts = Array.isArray(parsed) && parsed.every((one) => typeof one === "string");
        return isTexts || ["string", "number", "boolean"].includes(typeof parsed) ? parsed : undefined;
    } catch {
        return undefined;
    }
}

/** JSON's notation of these values is TOML's, too. */
function format(value) {
    return Array.isArray(value) ? `[${value.map((one) => JSON.stringify(one)).join(", ")}]` : JSON.stringify(value);
}
