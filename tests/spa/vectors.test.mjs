import assert from "node:assert/strict";
import test from "node:test";

import { vectorsLine } from "../../spa/js/vectors.js";

const lineOf = (vectors, mode = "hybrid") => vectorsLine({ vectors, mode });

test("nothing is said when every entry has vectors", () => {
    assert.equal(lineOf(undefined), "");
    assert.equal(lineOf({ done: 4, total: 4, secondsLeft: 0 }), "");
});

test("while vectors are missing it is said how many and about how long", () => {
    const some = { done: 28, total: 40 };
    assert.equal(lineOf({ ...some, secondsLeft: 45 }),
        "Compared by meaning: 28 of 40 entries; the rest follows in about 45 seconds.");
    assert.equal(lineOf({ ...some, secondsLeft: 600 }),
        "Compared by meaning: 28 of 40 entries; the rest follows in about 10 minutes.");
    assert.equal(lineOf({ ...some, secondsLeft: 9000 }),
        "Compared by meaning: 28 of 40 entries; the rest follows in about 3 hours.");
});

test("a time that is not known is left out", () => {
    assert.equal(lineOf({ done: 0, total: 1, secondsLeft: null }, "keyword"),
        "Compared by meaning: 0 of 1 entry; the rest follows.");
});

test("vectors of the hash embedder are no meaning", () => {
    assert.equal(lineOf({ done: 1, total: 2, secondsLeft: 1 }, "keyword+hash"),
        "Vectors: 1 of 2 entries; the rest follows in about 1 second.");
});
