import assert from "node:assert/strict";
import test from "node:test";

import { diffLines, parseUnified } from "../../spa/js/line_diff.js";

const shown = (lines) => lines.map(({ mark, text }) => mark + text);

test("a changed line is one taken away and one added", () => {
    assert.deepEqual(shown(diffLines("a\nb\nc", "a\nB\nc\nd")), [" a", "-b", "+B", " c", "+d"]);
});

test("equal texts differ nowhere", () => {
    assert.deepEqual(shown(diffLines("a\nb", "a\nb")), [" a", " b"]);
});

test("the server's diff is read without its headings", () => {
    const text = "--- in force\n+++ new\n@@ -1,2 +1,2 @@\n [global]\n-a = 1\n+a = 2";

    assert.deepEqual(shown(parseUnified(text)), [" …", " [global]", "-a = 1", "+a = 2"]);
});
