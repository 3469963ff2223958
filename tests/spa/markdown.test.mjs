import assert from "node:assert/strict";
import test from "node:test";

import { blocksOf, piecesOf } from "../../spa/js/markdown.js";

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
