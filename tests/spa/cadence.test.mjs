import assert from "node:assert/strict";
import { test } from "node:test";

import { CADENCES, inWords } from "../../spa/js/cadence.js";

test("a usual cadence has words, and any other is shown as it is written", () => {
    assert.equal(inWords("0 3 * * *"), "Daily at 03:00");
    assert.equal(inWords(""), "Off");
    assert.equal(inWords("5 4 * * 2"), "Cron: 5 4 * * 2");
});

test("no cadence is offered twice", () => {
    assert.equal(new Set(CADENCES.map(([cron]) => cron)).size, CADENCES.length);
});
