import assert from "node:assert/strict";
import test from "node:test";

import { countFilters, filterOf, withoutFilters } from "../../spa/js/filters.js";

test("the values of the address become the filter of a request", () => {
    assert.deepEqual(filterOf({ kind: "fact,note", tag: "a,b", pinned: "no", priority: "3", q: "words" }), {
        kinds: ["fact", "note"], tags: ["a", "b"], pinned: false, minPriority: 3,
    });
});

test("without a filter there is none in the request", () => {
    assert.equal(filterOf({ q: "words", id: "x", kind: "" }), undefined);
});

test("a day begins where the reader is", () => {
    assert.equal(filterOf({ since: "2026-03-01" }).updatedAfter, new Date("2026-03-01T00:00").toISOString());
});

test("filters are counted and taken away, and nothing else", () => {
    const query = { q: "words", kind: "fact", tag: "a" };

    assert.equal(countFilters(query), 2);
    assert.deepEqual(withoutFilters(query), { q: "words", kind: "", tag: "" });
});
