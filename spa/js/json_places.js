// Finds the position of a value in a JSON text, so that a fault is shown at its field.

/** Return `{ from, to }` of the value at `path`, or of the deepest part of the path that exists. */
export function placeOf(text, path) {
    const places = placesOf(text);
    for (let length = path.length; length >= 0; length -= 1) {
        const found = places.get(path.slice(0, length).join("\u0000"));
        if (found) {
            return found;
        }
    }
    return { from: 0, to: text.length };
}

/** Return the position of every value of a valid JSON text, by its path. */
function placesOf(text) {
    const places = new Map();
    let at = 0;
    const skip = () => {
        while (" \t\r\n,:".includes(text[at]) && at < text.length) {
            at += 1;
        }
    };
    const string = () => {
        const from = at;
        at += 1;
        while (at < text.length && text[at] !== '"') {
            at += text[at] === "\\" ? 2 : 1;
        }
        at += 1;
        return text.slice(from, at);
    };
    const inside = (path, end, keyOf) => {
        at += 1;
        skip();
        for (let index = 0; at < text.length && text[at] !== end; index += 1) {
            value([...path, keyOf(index)]);
            skip();
        }
        at += 1;
    };
    const value = (path) => {
        skip();
        const from = at;
        if (text[at] === "{") {
            inside(path, "}", () => {
                const key = JSON.parse(string());
                skip();
                return key;
            });
        } else if (text[at] === "[") {
            inside(path, "]", String);
        } else if (text[at] === '"') {
            string();
        } else {
            while (at < text.length && !",]}".includes(text[at])) {
                at += 1;
            }
        }
        places.set(path.join("\u0000"), { from, to: at });
    };
    value([]);
    return places;
}

/** Parse JSON: return `{ value }`, or `{ fault: { from, to, message } }` at the position of the error. */
export function parseJson(text) {
    try {
        return { value: JSON.parse(text) };
    } catch (error) {
        const found = /position (\d+)/.exec(error.message);
        const from = Math.min(found ? Number(found[1]) : text.length, text.length);
        return { fault: { from, to: Math.min(from + 1, text.length), message: `Invalid JSON: ${error.message}` } };
    }
}
