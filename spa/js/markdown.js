// Parses Markdown into blocks and text pieces; never into HTML. Every pass over a text takes linear time, because
// agents write the texts.

const ITEM = /^( *)([-*+]|\d{1,9}[.)]) +(.*)$/;
const HEADING = /^(#{1,6}) +(.*)$/;
const FENCE = /^ {0,3}(```+|~~~+)/;
const RULE = /^ {0,3}([-*_])( *\1){2,} *$/;
const TABLE_RULE = /^[ :|-]+$/;
const WEB = /^(https?:\/\/|\/(?!\/))/;
const LONGEST_LABEL = 500;
const LONGEST_ADDRESS = 500;
/** Longer texts are shown as they are. */
const MOST_CHARACTERS = 200_000;
const DEEPEST = 3;
const MARKS = { "**": "strong", __: "strong", "*": "emphasis", _: "emphasis", "~~": "deleted" };
const WORD = /[\p{L}\p{N}]/u;

/** Return the blocks of a text: heading, code, table, list, quote, rule, paragraph; `lineEnd` joins its lines. */
export function blocksOf(text, lineEnd = " ") {
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
        const heading = HEADING.exec(line);
        if (line.trim() === "") {
            at += 1;
        } else if (FENCE.test(line)) {
            const fence = FENCE.exec(line)[1];
            at += 1;
            blocks.push({ type: "code", text: take((one) => !closes(fence, one)).join("\n") });
            at += 1;
        } else if (heading) {
            blocks.push({ type: "heading", level: heading[1].length, text: heading[2].replace(/ #+ *$/, "") });
            at += 1;
        } else if (RULE.test(line)) {
            blocks.push({ type: "rule" });
            at += 1;
        } else if (isTable(lines, at)) {
            blocks.push(tableOf(take((one) => one.trim() !== "" && one.includes("|"))));
        } else if (line.startsWith(">")) {
            blocks.push({ type: "quote", text: take((one) => one.startsWith(">")).map(unquoted).join("\n") });
        } else if (ITEM.test(line)) {
            blocks.push(listOf(take((one) => ITEM.test(one) || /^\s+\S/.test(one))));
        } else {
            const first = at;
            const isText = (one) => at === first || !(one.trim() === "" || begins(one) || isTable(lines, at));
            blocks.push({ type: "paragraph", text: take(isText).join(lineEnd) });
        }
    }
    return blocks;
}

/** Return the pieces of a line: `{ type, text, href? }`: text, code, strong, emphasis, deleted or link. */
export function piecesOf(text) {
    const pieces = [];
    const ends = new Ends(text);
    let plain = 0;
    let at = 0;
    while (at < text.length) {
        const found = pieceAt(text, at, ends);
        if (found) {
            pieces.push({ type: "text", text: text.slice(plain, at) }, found.piece);
            at = plain = found.end;
        } else {
            at += 1;
        }
    }
    pieces.push({ type: "text", text: text.slice(plain) });
    return pieces.filter((piece) => piece.text !== "");
}

/** Return whether a text has Markdown to render: with plain paragraphs alone, source and rendering look the same. */
export function isMarkdown(text) {
    const isMarked = (block) => block.type !== "paragraph" || piecesOf(block.text).some(({ type }) => type !== "text");
    return text.length <= MOST_CHARACTERS && blocksOf(text).some(isMarked);
}

/** Finds the next place of a mark; it remembers the last answer, so that a scan stays linear. */
class Ends {
    constructor(text) {
        this.text = text;
        this.known = new Map();
    }

    after(mark, from) {
        const last = this.known.get(mark);
        if (last !== undefined && (last === -1 || last >= from)) {
            return last;
        }
        const found = this.text.indexOf(mark, from);
        this.known.set(mark, found);
        return found;
    }
}

function pieceAt(text, at, ends) {
    switch (text[at]) {
        case "`": return codeAt(text, at, ends);
        case "!": return text[at + 1] === "[" ? linkAt(text, at + 1, ends) : null;
        case "[": return linkAt(text, at, ends);
        case "*": case "_": case "~": return markedAt(text, at, ends);
        case "h": return text.startsWith("http", at) && !WORD.test(text[at - 1] ?? "") ? addressAt(text, at) : null;
        default: return null;
    }
}

function codeAt(text, at, ends) {
    const mark = text[at + 1] === "`" ? "``" : "`";
    const end = ends.after(mark, at + mark.length);
    return end > at + mark.length
        ? { piece: { type: "code", text: text.slice(at + mark.length, end).trim() }, end: end + mark.length }
        : null;
}

function markedAt(text, at, ends) {
    const mark = text.startsWith(text[at].repeat(2), at) ? text[at].repeat(2) : text[at];
    const from = at + mark.length;
    const end = MARKS[mark] && /\S/.test(text[from] ?? " ") ? ends.after(mark, from + 1) : -1;
    // `snake_case_name` and `2 * 3 * 4` are no emphasis.
    const isInWord = mark[0] === "_" && (WORD.test(text[at - 1] ?? "") || WORD.test(text[end + mark.length] ?? ""));
    if (end < 0 || isInWord || /\s/.test(text[end - 1])) {
        return null;
    }
    return { piece: { type: MARKS[mark], text: text.slice(from, end) }, end: end + mark.length };
}

/** Only addresses of the web become links: relative ones lead to files that the server does not serve. */
function linkAt(text, at, ends) {
    const middle = ends.after("](", at + 1);
    const end = middle < 0 ? -1 : ends.after(")", middle + 2);
    const label = text.slice(at + 1, Math.max(middle, at + 1));
    if (end < 0 || label === "" || label.length > LONGEST_LABEL || /[[\]\n]/.test(label)) {
        return null;
    }
    const target = text.slice(middle + 2, end).split(/\s/, 1)[0];
    const piece = WEB.test(target) ? { type: "link", text: label, href: target } : { type: "text", text: label };
    return { piece, end: end + 1 };
}

function addressAt(text, at) {
    const found = /^https?:\/\/[^\s<>"'`]+/.exec(text.slice(at, at + LONGEST_ADDRESS));
    if (!found) {
        return null;
    }
    const address = found[0].replace(/[.,;:!?)\]*_]+$/, "");
    return { piece: { type: "link", text: address, href: address }, end: at + address.length };
}

function closes(fence, line) {
    return line.trim().startsWith(fence);
}

function begins(line) {
    return HEADING.test(line) || FENCE.test(line) || RULE.test(line) || ITEM.test(line) || /^[>]/.test(line);
}

function isTable(lines, at) {
    const rule = lines[at + 1] ?? "";
    return lines[at].includes("|") && rule.includes("-") && rule.includes("|") && TABLE_RULE.test(rule);
}

function unquoted(line) {
    return line.replace(/^> ?/, "");
}

function tableOf(lines) {
    const cells = (line) => line.trim().replace(/^\|/, "").replace(/\|$/, "").split(/(?<!\\)\|/)
        .map((cell) => cell.trim().replaceAll("\\|", "|"));
    const [head, , ...rows] = lines;
    return { type: "table", head: cells(head), rows: rows.map(cells) };
}

/** Return a list; `depths` are there when some items are indented, two spaces or more being one step. */
function listOf(lines) {
    const items = [];
    const depths = [];
    for (const line of lines) {
        const item = ITEM.exec(line);
        if (item) {
            items.push(item[3]);
            depths.push(Math.min(Math.floor(item[1].length / 2), DEEPEST));
        } else {
            items[items.length - 1] += ` ${line.trim()}`;
        }
    }
    const nested = depths.some((depth) => depth > 0) ? { depths } : {};
    return { type: "list", isOrdered: /^\s*\d/.test(lines[0]), items, ...nested };
}
