import assert from "node:assert/strict";
import test from "node:test";

import { columnsOf } from "../../spa/js/series.js";

test("figures become rates, and a quiet moment has no latency", () => {
    const items = [
        { atUtc: "2026-03-01T12:00:00Z", requests: 10, failures: 5, meanMs: 2, p95Ms: 4 },
        { atUtc: "2026-03-01T12:00:05Z", requests: 0, failures: 0, meanMs: 0, p95Ms: 0 },
    ];
    const { requests, latency } = columnsOf({ items, intervalSeconds: 5 });

    assert.deepEqual(requests.slice(1), [[2, 0], [1, 0]]);
    assert.deepEqual(latency.slice(1), [[4, null], [2, null]]);
    assert.equal(requests[0][1] - requests[0][0], 5);
});
