import assert from "node:assert/strict";
import test from "node:test";

import { hrefOf, parsePlace, setupTokenOf } from "../../spa/js/router.js";

test("an address names a page, its subject and its filters", () => {
    assert.deepEqual(parsePlace("#/entries/projA?q=a%20b&tag=x"), {
        page: "entries", path: ["projA"], query: { q: "a b", tag: "x" },
    });
    assert.deepEqual(parsePlace(""), { page: "", path: [], query: {} });
});

test("what an address is made of comes back from it, whatever it holds", () => {
    const query = { q: "50% & more?#/", id: "projA:a/b~c", empty: "", none: null };
    const found = parsePlace(hrefOf("entries", ["pr/oj", "ä"], query));

    assert.deepEqual(found, {
        page: "entries", path: ["pr/oj", "ä"], query: { q: "50% & more?#/", id: "projA:a/b~c" },
    });
});

test("a broken escape is text, not an error", () => {
    assert.equal(parsePlace("#/%E0%A4%A").page, "%E0%A4%A");
});

test("only a setup link holds a setup token", () => {
    assert.equal(setupTokenOf("#setup=abc-_1"), "abc-_1");
    assert.equal(setupTokenOf("#/entries?q=%23setup%3Dabc"), null);
});
