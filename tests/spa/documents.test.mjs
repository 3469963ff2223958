import assert from "node:assert/strict";
import { test } from "node:test";

import {
    chunkPrefix, countRefs, factsChanged, headingOf, outcomeOf, pageOf, sameName, typeName,
} from "../../spa/js/documents.js";

const SLIDES = "application/vnd.openxmlformats-officedocument.presentationml.presentation";

test("a media type has a short name, an unknown one its own", () => {
    assert.equal(typeName("application/pdf"), "PDF");
    assert.equal(typeName(SLIDES), "PPTX");
    assert.equal(typeName("image/x-new"), "image/x-new");
    assert.equal(typeName(null), "Unknown type");
});

test("a chunk stands on a page, a slide, or on none", () => {
    assert.equal(pageOf({ page: 3 }, "application/pdf"), "page 3");
    assert.equal(pageOf({ page: 2 }, SLIDES), "slide 2");
    assert.equal(pageOf({}, "text/plain"), "");
});

test("the nearest heading is told from those above it", () => {
    assert.deepEqual(headingOf({ heading: "Harbour > Piers > West" }), { last: "West", above: "Harbour › Piers" });
    assert.deepEqual(headingOf({}), { last: "", above: "" });
    assert.deepEqual(headingOf({ heading: null }), { last: "", above: "" });
});

test("an answer tells what became of a file", () => {
    assert.equal(outcomeOf({ created: true, updated: false }), "stored");
    assert.equal(outcomeOf({ created: false, updated: true }), "replaced");
    assert.equal(outcomeOf({ created: false, updated: false }), "unchanged");
});

test("references are counted by their chunk", () => {
    const counts = countRefs([{ chunkId: "a" }, { chunkId: "a" }, {}]);
    assert.deepEqual([...counts], [["a", 2], ["", 1]]);
});

test("a file replaces the document with its name, but none that belongs to a synced folder", () => {
    const documents = [
        { id: "p:synced", metadata: { path: "a.md", folder: "docs" } },
        { id: "p:other", metadata: { path: "b.md" } },
        { id: "p:own", metadata: { path: "a.md" } },
    ];
    assert.equal(sameName(documents, "a.md"), "p:own");
    assert.equal(sameName(documents, "c.md"), undefined);
    assert.equal(sameName([{ id: "p:bare" }], "a.md"), undefined);
});

test("the prefix of chunk ids is that of the document, cut as the server does", () => {
    assert.equal(chunkPrefix("projA:harbour"), "projA:harbour.");
    assert.equal(chunkPrefix(`projA:${"x".repeat(120)}`), `projA:${"x".repeat(100)}.`);
});

test("the facts that differ between two versions are told", () => {
    const before = { title: "A", tags: ["x"], body: { sha256: "1".repeat(64) }, metadata: { chunkCount: 3 } };
    const after = { title: "A", tags: ["x"], body: { sha256: "2".repeat(64) }, metadata: { chunkCount: 4 } };
    assert.deepEqual(factsChanged(before, after), [["Chunks", "3", "4"], ["SHA256", "1".repeat(12), "2".repeat(12)]]);
    assert.deepEqual(factsChanged(after, after), []);
    assert.equal(factsChanged(undefined, after).find(([name]) => name === "Title")[1], "");
});
