import assert from "node:assert/strict";
import test from "node:test";

import { lineOf } from "../../spa/js/entry_text.js";

test("the line of an entry is the beginning of its text", () => {
    assert.equal(lineOf({ kind: "fact", title: "Deploys", body: { statement: "They run\n\n at noon" } }), "They run at noon");
    assert.equal(lineOf({ kind: "procedure", title: "Release", body: { steps: ["Tag", "Build"] } }), "Tag · Build");
    assert.equal(lineOf({ kind: "note", title: "x", body: { text: "y".repeat(500) } }).length, 240);
});

test("what the title says is not said again", () => {
    assert.equal(lineOf({ kind: "note", title: "Ask Ada", body: { text: "Ask Ada" } }), "");
    assert.equal(lineOf({ kind: "note", title: "Ask Ada…", body: { text: "Ask Ada before noon" } }), "…before noon");
});

test("an entry without a text has no line", () => {
    assert.equal(lineOf({ kind: "observation", title: "x", body: {} }), "");
    assert.equal(lineOf({ kind: "unknown", title: "x", body: null }), "");
});
