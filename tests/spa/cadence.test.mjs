import assert from "node:assert/strict";
import { test } from "node:test";

import { CADENCES, inWords } from "../../spa/js/cadence.js";

test("a usual cadence has words, and any other is shown as it is written", () => {
    assert.equal(inWords("0 3 * * *"), "Every night at 3");
    assert.equal(inWords(""), "Never by the clock");
    assert.equal(inWords("5 4 * * 2"), "By the cron expression 5 4 * * 2");
});

test("no cadence is offered twice", () => {
    assert.equal(new Set(CADENCES.map(([cron]) => cron)).size, CADENCES.length);
});
