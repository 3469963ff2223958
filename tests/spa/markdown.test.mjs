import assert from "node:assert/strict";
import test from "node:test";

import { blocksOf, isMarkdown, piecesOf } from "../../spa/js/markdown.js";

test("a page becomes blocks", () => {
    const text = "# Title\n\nTwo lines\nof words.\n\n- one\n  goes on\n- two\n\n1. first\n\n```sh\n# not a title\n```\n\n| a | b |\n| --- | --- |\n| x | y \\| z |\n";

    assert.deepEqual(blocksOf(text), [
        { type: "heading", level: 1, text: "Title" },
        { type: "paragraph", text: "Two lines of words." },
        { type: "list", isOrdered: false, items: ["one goes on", "two"] },
        { type: "list", isOrdered: true, items: ["first"] },
        { type: "code", text: "# not a title" },
        { type: "table", head: ["a", "b"], rows: [["x", "y | z"]] },
    ]);
});

test("a line becomes pieces, and only addresses of the web become links", () => {
    assert.deepEqual(piecesOf("Run `qms` **now**, see [the page](/docs/schema)."), [
        { type: "text", text: "Run " }, { type: "code", text: "qms" }, { type: "text", text: " " },
        { type: "strong", text: "now" }, { type: "text", text: ", see " },
        { type: "link", text: "the page", href: "/docs/schema" }, { type: "text", text: "." },
    ]);
    assert.deepEqual(piecesOf("[x](javascript:alert(1)"), [{ type: "text", text: "x" }]);
    assert.deepEqual(piecesOf("[x](other.md)"), [{ type: "text", text: "x" }]);
});

test("a text that breaks off ends", () => {
    assert.deepEqual(blocksOf("```\nopen"), [{ type: "code", text: "open" }]);
    assert.deepEqual(blocksOf(""), []);
});

test("quotes, rules and nested lists are blocks of their own", () => {
    assert.deepEqual(blocksOf("> said\n> twice\n\n---\n\n- a\n  - b\n", "\n"), [
        { type: "quote", text: "said\ntwice" },
        { type: "rule" },
        { type: "list", isOrdered: false, items: ["a", "b"], depths: [0, 1] },
    ]);
    assert.deepEqual(blocksOf("one\ntwo", "\n"), [{ type: "paragraph", text: "one\ntwo" }]);
});

test("emphasis needs a mark at both ends and is none within a name", () => {
    const types = (text) => piecesOf(text).map(({ type, text: words }) => `${type} ${words}`);

    assert.deepEqual(types("*soft* and ~~gone~~"), ["emphasis soft", "text  and ", "deleted gone"]);
    assert.deepEqual(types("snake_case_name 2 * 3 * 4 **open"), ["text snake_case_name 2 * 3 * 4 **open"]);
    assert.deepEqual(types("__all__"), ["strong all"]);
});

test("an image is a link, HTML is text, and an address is a link", () => {
    assert.deepEqual(piecesOf("![logo](https://example.org/a.png)"), [
        { type: "link", text: "logo", href: "https://example.org/a.png" },
    ]);
    assert.deepEqual(piecesOf("<img src=x onerror=run()>"), [{ type: "text", text: "<img src=x onerror=run()>" }]);
    assert.deepEqual(piecesOf("see https://example.org/a."), [
        { type: "text", text: "see " }, { type: "link", text: "https://example.org/a", href: "https://example.org/a" },
        { type: "text", text: "." },
    ]);
    assert.deepEqual(piecesOf("[x](//evil.example)"), [{ type: "text", text: "x" }]);
});

test("plain text is no Markdown", () => {
    assert.equal(isMarkdown("Two lines\nof words."), false);
    assert.equal(isMarkdown("Run `qms`"), true);
    assert.equal(isMarkdown("- one\n- two"), true);
    assert.equal(isMarkdown("x".repeat(300_000) + "`a`"), false);
});

test("hostile texts take linear time: with a quadratic scan this would run for minutes", { timeout: 30_000 }, () => {
    const size = 200_000;
    for (const bit of ["[", "[a](", "*a", "_", "`", "``", "> ", "- ", "|-", "# #", "https://", "![", "~~a", "-"]) {
        const text = bit.repeat(size / bit.length);
        for (const hostile of [text, `${text}x\n|${text}x`]) {
            const pieces = blocksOf(hostile).flatMap((block) => piecesOf(block.text ?? ""));
            assert.ok(pieces.length <= hostile.length);
        }
    }
});
