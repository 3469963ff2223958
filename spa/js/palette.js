// The command palette's choices and their order.

const MOST = 12;

/**
 * Return the choices that a text fits, best first: `{ title, hint, group }`. Every word must occur; the beginning of
 * the title counts most, then the beginning of a word, then any place. Without a text their order stays.
 */
export function rank(choices, text, most = MOST) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    return choices
        .map((choice, at) => ({ choice, at, score: scoreOf(choice, words) }))
        .filter(({ score }) => score > 0)
        .sort((one, other) => other.score - one.score || one.at - other.at)
        .slice(0, most)
        .map(({ choice }) => choice);
}

function scoreOf({ title, hint = "" }, words) {
    const name = title.toLowerCase();
    const more = hint.toLowerCase();
    let sum = 1;
    for (const word of words) {
        const found = name.startsWith(word) ? 4 : name.includes(` ${word}`) ? 3 : name.includes(word) ? 2
            : more.includes(word) ? 1 : 0;
        if (found === 0) {
            return 0;
        }
        sum += found;
    }
    return sum;
}

/** Return choices in groups, in the order in which the groups first occur: `[[group, choices]]`. */
export function grouped(choices) {
    return [...Map.groupBy(choices, ({ group }) => group)];
}
