import assert from "node:assert/strict";
import test from "node:test";

import { areNeeded, stepsOf } from "../../spa/js/first_steps.js";

const store = (entries) => ({ entries, loaded: true });
const done = (facts) => stepsOf({ user: "admin", keys: [], imports: 0, ...facts }).filter((one) => one.isDone)
    .map(({ name }) => name);

test("nothing is done on an empty root", () => {
    assert.deepEqual(done({ stores: [store(0), store(0)] }), []);
    assert.deepEqual(done({ stores: [store(0)], keys: null, imports: null }), []);
});

test("a step is done when its trace is there", () => {
    assert.deepEqual(done({ stores: [store(1)] }), ["write"]);
    assert.deepEqual(done({ stores: [store(0)], imports: 1 }), ["import"]);
    assert.deepEqual(done({ stores: [store(0)], keys: [{ user: "codex", lastUsedUtc: "2026-01-01" }] }), ["connect"]);
    assert.deepEqual(done({ stores: [store(0)], keys: [{ user: "codex", lastUsedUtc: null }] }), []);
    assert.deepEqual(done({ stores: [store(0)], keys: [{ user: "admin", lastUsedUtc: "2026-01-01" }] }), []);
});

test("steps are shown on a young server until all are done", () => {
    const open = [{ isDone: true }, { isDone: false }];

    assert.equal(areNeeded([store(3)], open), true);
    assert.equal(areNeeded([store(3)], [{ isDone: true }]), false);
    assert.equal(areNeeded([store(300)], open), false);
    assert.equal(areNeeded([{ entries: 0, loaded: false }], open), false);
});
