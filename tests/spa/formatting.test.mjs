import assert from "node:assert/strict";
import test from "node:test";

import {
    ago, fromLocalInput, localId, markedPieces, plural, projectOf, rangeOf, size, toLocalInput, words,
} from "../../spa/js/formatting.js";

test("a size has three figures at most and a unit", () => {
    assert.equal(size(0), "0 B");
    assert.equal(size(999), "999 B");
    assert.equal(size(28_900), "28.9 KB");
    assert.equal(size(123_456_789), "123 MB");
});

test("one is not many", () => {
    assert.equal(plural(1, "entry", "entries"), "1 entry");
    assert.equal(plural(0, "entry", "entries"), "0 entries");
});

test("a moment is told by its distance, and by its date when it is far", () => {
    const now = new Date("2026-03-01T12:00:00Z");

    assert.equal(ago("2026-03-01T11:59:40Z", now), "just now");
    assert.match(ago("2026-03-01T11:00:00Z", now), /hour/);
    assert.match(ago("2026-02-27T12:00:00Z", now), /day/);
    assert.match(ago("2025-03-01T12:00:00Z", now), /2025/);
    assert.equal(ago(null, now), "never");
});

test("a moment survives the field that it is edited in", () => {
    const utc = "2026-03-01T12:34:56.000Z";

    assert.equal(fromLocalInput(toLocalInput(utc)), utc);
    assert.equal(toLocalInput("no date"), "");
    assert.equal(fromLocalInput(""), null);
});

test("names become words", () => {
    assert.equal(words("codeSnippet"), "Code snippet");
    assert.equal(words("dueUtc"), "Due");
});

test("an id is parted at its first colon", () => {
    assert.deepEqual([projectOf("projA:x:y"), localId("projA:x:y")], ["projA", "x:y"]);
    assert.equal(projectOf("plain"), "");
});

test("a snippet's marks become pieces and nothing else", () => {
    assert.deepEqual(markedPieces("a **b** <i>c</i>"), [
        { text: "a ", isMarked: false }, { text: "b", isMarked: true }, { text: " <i>c</i>", isMarked: false },
    ]);
});

test("a page of a list says which part it is", () => {
    assert.equal(rangeOf({ number: 2, shown: 50, size: 50, total: 1234 }), "51–100 of 1,234, page 2 of 25");
    assert.equal(rangeOf({ number: 1, shown: 3, size: 50, total: 3 }), "1–3 of 3");
    assert.equal(rangeOf({ number: 3, shown: 7, size: 50 }), "101–107, page 3");
    assert.equal(rangeOf({ number: null, shown: 7, size: 50, total: 90 }), "90 in total");
    assert.equal(rangeOf({ number: null, shown: 7, size: 50 }), "");
});
