import assert from "node:assert/strict";
import test from "node:test";

import { isSame, readSearches, searchOf, withSearch, writeSearches } from "../../spa/js/saved_searches.js";

function storageOf(text = null) {
    let kept = text;
    return { getItem: () => kept, setItem: (_key, value) => { kept = value; } };
}

test("a search is its text, filters and order, not what is open", () => {
    assert.deepEqual(searchOf({ q: "x", tag: "ops", id: "a:b", cursor: "c", page: "2" }), { q: "x", tag: "ops" });
    assert.equal(isSame({ tag: "ops", q: "x" }, { q: "x", tag: "ops", id: "a:b" }), true);
    assert.equal(isSame({ q: "x" }, { q: "y" }), false);
});

test("searches are kept for each project", () => {
    const storage = storageOf();
    writeSearches("a", withSearch([], " Ops ", { tag: "ops", id: "x" }), storage);
    writeSearches("b", withSearch([], "Other", { q: "o" }), storage);

    assert.deepEqual(readSearches("a", storage), [{ name: "Ops", query: { tag: "ops" } }]);
    writeSearches("a", [], storage);
    assert.deepEqual(readSearches("a", storage), []);
    assert.equal(readSearches("b", storage).length, 1);
});

test("a name is used once, and the number is bounded", () => {
    const many = Array.from({ length: 40 }, (_, at) => `${at}`).reduce((all, name) => withSearch(all, name, { q: name }), []);

    assert.equal(many.length, 30);
    assert.deepEqual(withSearch([{ name: "a", query: {} }], "a", { q: "new" }), [{ name: "a", query: { q: "new" } }]);
});

test("a storage with nonsense or none at all is an empty one", () => {
    for (const text of ["nonsense", "[1]", "null", '{"a": 3}', '{"a": [null, 5]}']) {
        assert.deepEqual(readSearches("a", storageOf(text)), []);
    }
    const broken = { getItem() { throw new Error("no"); }, setItem() { throw new Error("no"); } };
    assert.deepEqual(readSearches("a", broken), []);
    writeSearches("a", [{ name: "x", query: {} }], broken);
});
