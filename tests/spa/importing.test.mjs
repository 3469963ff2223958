import assert from "node:assert/strict";
import { test } from "node:test";

import { batchesOf, emptyReport, formatOf, withAnswer, withFault } from "../../spa/js/importing.js";

const items = (number, length = 1) => Array.from({ length: number }, (_, at) => ({
    place: `line ${at + 1}`, entry: { body: "x".repeat(length) },
}));

test("the name of a file suggests its format", () => {
    assert.equal(formatOf("old.JSONL"), "jsonl");
    assert.equal(formatOf("notes/a.md"), "markdown");
    assert.equal(formatOf("table.csv"), "csv");
    assert.equal(formatOf("memory.db", "aiMemory"), "aiMemory");
});

test("a batch carries a bounded number of entries and of characters, and none is lost", () => {
    assert.deepEqual([...batchesOf(items(450))].map((batch) => batch.length), [200, 200, 50]);
    assert.deepEqual([...batchesOf(items(3, 600_000))].map((batch) => batch.length), [1, 1, 1]);
    assert.deepEqual([...batchesOf([])], []);
});

test("a report adds up what became of each batch, and where faults stand", () => {
    const answer = { imported: 2, updated: 1, skipped: 2, errors: [{ index: 1, message: "no kind" }] };

    const report = withAnswer(withFault(emptyReport(), "line 9", "not JSON"), items(5), answer);

    assert.deepEqual(report, {
        found: 0, stored: 2, replaced: 1, known: 1, refused: 2,
        faults: [{ place: "line 9", message: "not JSON" }, { place: "line 2", message: "no kind" }],
        notes: [],
    });
});

test("a report names what the server says of entries that it stored", () => {
    const warnings = [{ index: 1, message: "body.text was taken as body.statement" }, { index: null, message: "all" }];
    const answer = { imported: 2, updated: 0, skipped: 0, errors: [], warnings };

    assert.deepEqual(withAnswer(emptyReport(), items(2), answer).notes, [
        { place: "line 2", message: "body.text was taken as body.statement" }, { place: "", message: "all" },
    ]);
});

test("faults beyond a bound are counted, not listed", () => {
    const report = Array.from({ length: 250 }).reduce((sum, _, at) => withFault(sum, `line ${at}`, "bad"), emptyReport());

    assert.equal(report.refused, 250);
    assert.equal(report.faults.length, 200);
});
