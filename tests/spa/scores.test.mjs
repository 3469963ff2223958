import assert from "node:assert/strict";
import test from "node:test";

import { explain, splitByRelevance } from "../../spa/js/scores.js";

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

    assert.deepEqual(parts.map((part) => part.name), ["Relevance", "Recency", "Confidence"]);
    assert.ok(Math.abs(sum - total) < 1e-9);
});

test("only what found the entry is named as having found it", () => {
    assert.deepEqual(explain(result).found.map((stage) => stage.name), ["Keyword"]);
    assert.deepEqual(explain({ score: 1 }), { found: [], parts: [], total: 1 });
});

test("results far below the best one are folded away, but no exact match", () => {
    const results = [0.6, 0.2, 0.14, 0.1].map((relevance) => ({ scores: { relevance } }));
    results[3].provenance = { exact: "id" };

    const { strong, weak } = splitByRelevance(results);

    assert.deepEqual(strong, [results[0], results[1], results[3]]);
    assert.deepEqual(weak, [results[2]]);
});

test("entries without scores are all shown", () => {
    assert.deepEqual(splitByRelevance([{}, {}]), { strong: [{}, {}], weak: [] });
    assert.deepEqual(splitByRelevance([]), { strong: [], weak: [] });
});
