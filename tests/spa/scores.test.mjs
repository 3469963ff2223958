import assert from "node:assert/strict";
import test from "node:test";

import { explain } from "../../spa/js/scores.js";

const result = {
    score: 0.68,
    explanation: {
        stages: [
            { stage: "text", score: 1.5, rank: 1 }, { stage: "graph", score: 0, rank: 1 },
            { stage: "relevance", score: 0.6, rank: 1 }, { stage: "recency", score: 1, rank: 1, weight: 0.04 },
            { stage: "confidence", score: 1, rank: 1, weight: 0.04 }, { stage: "pinned", score: 0, rank: 1, weight: 0.03 },
            { stage: "score", score: 0.68, rank: 1 },
        ],
    },
};

test("the parts of a score add up to it", () => {
    const { parts, total } = explain(result);
    const sum = parts.reduce((before, part) => before + part.share, 0);

    assert.deepEqual(parts.map((part) => part.name), ["Relevance", "Recent", "Confidence"]);
    assert.ok(Math.abs(sum - total) < 1e-9);
});

test("only what found the entry is named as having found it", () => {
    assert.deepEqual(explain(result).found.map((stage) => stage.name), ["Words"]);
    assert.deepEqual(explain({ score: 1 }), { found: [], parts: [], total: 1 });
});
