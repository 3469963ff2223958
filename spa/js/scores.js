// Why a result stands where it stands: the stages of a search as a person reads them.

const NAMES = {
    text: "Words", vector: "Meaning", graph: "Relations", textContext: "Words nearby",
    vectorContext: "Meaning nearby", speaker: "Speaker", fused: "Together", rerank: "Reranker",
    relevance: "Relevance", recency: "Recent", priority: "Priority", confidence: "Confidence",
    curation: "Trust", retention: "Lifespan", usage: "Used often", pinned: "Pinned", score: "Score",
};
const FOUND_BY = ["text", "vector", "graph", "textContext", "vectorContext", "rerank"];

/** Return `{ found, parts, total }`: what found the entry, and what its score adds up from. */
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
