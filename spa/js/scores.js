// Explains the score of a search result.

const NAMES = {
    text: "Keyword", vector: "Meaning", graph: "Relations", textContext: "Keyword in context",
    vectorContext: "Meaning in context", speaker: "Speaker", fused: "Fused", rerank: "Reranker",
    relevance: "Relevance", recency: "Recency", priority: "Priority", confidence: "Confidence",
    curation: "Trust", retention: "Retention", usage: "Usage", pinned: "Pinned", score: "Score",
};
const FOUND_BY = ["text", "vector", "graph", "textContext", "vectorContext", "rerank"];

/** Results with less than this part of the best relevance are folded away. */
const WEAK = 0.25;

/** Return `{ strong, weak }`: the results above and below the relevance line; an exact match is always above it. */
export function splitByRelevance(results) {
    const relevance = ({ scores }) => scores?.relevance ?? 1;
    const line = WEAK * Math.max(0, ...results.map(relevance));
    const isStrong = (result) => Boolean(result.provenance?.exact) || relevance(result) >= line;
    return { strong: results.filter(isStrong), weak: results.filter((result) => !isStrong(result)) };
}

/** Return `{ found, parts, total }`: the stages that found the entry, and the parts of its score. */
export function explain(result) {
    const stages = result.explanation?.stages ?? [];
    const named = (stage) => ({ ...stage, name: NAMES[stage.stage] ?? stage.stage });
    const total = result.score;
    const weighed = stages.filter((stage) => stage.weight !== undefined).map((stage) => ({
        ...named(stage), share: stage.score * stage.weight,
    }));
    const relevance = stages.filter((stage) => stage.stage === "relevance")
        .map((stage) => ({ ...named(stage), share: stage.score }));
    return {
        found: stages.filter((stage) => FOUND_BY.includes(stage.stage) && stage.score > 0).map(named),
        parts: [...relevance, ...weighed].filter((part) => part.share > 0.0005),
        total,
    };
}
