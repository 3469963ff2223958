import assert from "node:assert/strict";
import test from "node:test";

import { isAtLeast, mayEdit, maySet } from "../../spa/js/tiers.js";

test("tiers have an order", () => {
    assert.ok(isAtLeast("curator", "writer"));
    assert.ok(!isAtLeast("reader", "writer"));
    assert.ok(!isAtLeast("unheard of", "none"));
});

test("what is trusted more needs more to be edited", () => {
    assert.ok(mayEdit("writer", {}));
    assert.ok(!mayEdit("writer", { curationTier: "curated" }));
    assert.ok(!mayEdit("curator", { curationTier: "canonical" }));
    assert.ok(!mayEdit("curator", { isPermanent: true }));
    assert.ok(mayEdit("admin", { curationTier: "canonical", isPermanent: true }));
});

test("trust and pins are a curator's, permanence an admin's", () => {
    assert.deepEqual(["title", "pinned", "isPermanent"].map((field) => maySet("curator", field)), [true, true, false]);
    assert.ok(!maySet("writer", "curationTier"));
});
