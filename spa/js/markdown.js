// The little Markdown that our help pages are written in, as blocks and pieces of text; never as markup.

const INLINE = /(`[^`]+`)|(\*\*[^*]+\*\*)|\[([^\]]+)\]\(([^)]+)\)/g;
const ITEM = /^(?:[-*]|\d+\.)\s+/;

/** Return the blocks of a text: heading, code, table, list, paragraph. */
export function blocksOf(text) {
    const lines = text.split("\n");
    const blocks = [];
    let at = 0;
    const take = (isTaken) => {
        const taken = [];
        while (at < lines.length && isTaken(lines[at])) {
            taken.push(lines[at++]);
        }
        return taken;
    };
    while (at < lines.length) {
        const line = lines[at];
        if (line.trim() === "") {
            at += 1;
        } else if (line.startsWith("```")) {
            at += 1;
            blocks.push({ type: "code", text: take((one) => !one.startsWith("```")).join("\n") });
            at += 1;
        } else if (/^#{1,6} /.test(line)) {
            blocks.push({ type: "heading", level: line.indexOf(" "), text: line.replace(/^#+ /, "") });
            at += 1;
        } else if (line.startsWith("|")) {
            blocks.push(tableOf(take((one) => one.startsWith("|"))));
        } else if (ITEM.test(line)) {
            blocks.push(listOf(take((one) => ITEM.test(one) || /^\s+\S/.test(one))));
        } else {
            const words = take((one) => one.trim() !== "" && !/^(#{1,6} |```|\|)/.test(one) && !ITEM.test(one));
            blocks.push({ type: "paragraph", text: words.join(" ") });
        }
    }
    return blocks;
}

/** Return the pieces of a line: `{ type, text, href? }`, the type being text, code, strong or link. */
export function piecesOf(text) {
    const pieces = [];
    let end = 0;
    for (const found of text.matchAll(INLINE)) {
        pieces.push({ type: "text", text: text.slice(end, found.index) });
        pieces.push(pieceOf(found));
        end = found.index + found[0].length;
    }
    pieces.push({ type: "text", text: text.slice(end) });
    return pieces.filter((piece) => piece.text !== "");
}

function pieceOf([whole, code, strong, label, target]) {
    if (code) {
        return { type: "code", text: code.slice(1, -1) };
    }
    if (strong) {
        return { type: "strong", text: strong.slice(2, -2) };
    }
    // A page beside this one in the repository has no address here.
    return /^(https?:\/\/|\/)/.test(target)
        ? { type: "link", text: label, href: target }
        : { type: "text", text: label ?? whole };
}

function tableOf(lines) {
    const cells = (line) => line.replace(/^\||\|\s*$/g, "").split(/(?<!\\)\|/)
        .map((cell) => cell.trim().replaceAll("\\|", "|"));
    const [head, , ...rows] = lines;
    return { type: "table", head: cells(head), rows: rows.map(cells) };
}

function listOf(lines) {
    const items = [];
    for (const line of lines) {
        if (ITEM.test(line)) {
            items.push(line.replace(ITEM, ""));
        } else {
            items[items.length - 1] += ` ${line.trim()}`;
        }
    }
    return { type: "list", isOrdered: /^\d/.test(lines[0]), items };
}
