// The filters of a list: from the URL query to the `filter` of a request.

/** Every filter of the URL query, and its field in a request. */
const TO_SERVER = {
    kind: (value) => ({ kinds: value.split(",") }),
    tier: (value) => ({ tiers: value.split(",") }),
    tag: (value) => ({ tags: value.split(",") }),
    retention: (value) => ({ retention: value }),
    namespace: (value) => ({ namespace: value }),
    agent: (value) => ({ agentId: value }),
    epic: (value) => ({ epicSlug: value }),
    pinned: (value) => ({ pinned: value === "yes" }),
    priority: (value) => ({ minPriority: Number(value) }),
    since: (value) => ({ updatedAfter: startOfDay(value) }),
    until: (value) => ({ updatedBefore: startOfDay(value) }),
};

export const FILTERS = Object.keys(TO_SERVER);

/** Return the `filter` of a request for a URL query; undefined when there is none. */
export function filterOf(query) {
    const parts = FILTERS.filter((name) => query[name]).map((name) => TO_SERVER[name](query[name]));
    return parts.length ? Object.assign({}, ...parts) : undefined;
}

/** Return the URL query without its filters. */
export function withoutFilters(query) {
    return Object.fromEntries(Object.keys(query).map((name) => [name, FILTERS.includes(name) ? "" : query[name]]));
}

/** Return how many filters are set. */
export function countFilters(query) {
    return FILTERS.filter((name) => query[name]).length;
}

function startOfDay(date) {
    const moment = new Date(`${date}T00:00`);
    return Number.isNaN(moment.getTime()) ? date : moment.toISOString();
}
