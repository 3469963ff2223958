// Compares two texts line by line.

const MOST_LINES = 2000;

/** Return `[{ mark, text }]`, the mark being "+", "-" or " ". */
export function diffLines(before, after) {
    const old = before.split("\n").slice(0, MOST_LINES);
    const young = after.split("\n").slice(0, MOST_LINES);
    const common = commonLengths(old, young);
    const lines = [];
    let i = 0;
    let j = 0;
    while (i < old.length || j < young.length) {
        if (i < old.length && j < young.length && old[i] === young[j]) {
            lines.push({ mark: " ", text: old[i] });
            i += 1;
            j += 1;
        } else if (j >= young.length || (i < old.length && common[i + 1][j] >= common[i][j + 1])) {
            lines.push({ mark: "-", text: old[i++] });
        } else {
            lines.push({ mark: "+", text: young[j++] });
        }
    }
    return lines;
}

/** Parse a unified diff of the server into such lines. */
export function parseUnified(text) {
    return text.split("\n").filter((line) => line !== "" && !/^(---|\+\+\+) /.test(line)).map((line) => ({
        mark: "+-".includes(line[0]) ? line[0] : " ",
        text: line.startsWith("@@") ? "…" : line.slice(1),
    }));
}

function commonLengths(old, young) {
    const table = Array.from({ length: old.length + 1 }, () => new Uint16Array(young.length + 1));
    for (let i = old.length - 1; i >= 0; i -= 1) {
        for (let j = young.length - 1; j >= 0; j -= 1) {
            table[i][j] = old[i] === young[j]
                ? table[i + 1][j + 1] + 1
                : Math.max(table[i + 1][j], table[i][j + 1]);
        }
    }
    return table;
}
