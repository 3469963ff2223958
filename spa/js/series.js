// Converts the metrics of the last hour into chart columns.

/** Return the columns of the charts: requests per second, and milliseconds. */
export function columnsOf({ items, intervalSeconds }) {
    const at = items.map((one) => new Date(one.atUtc).getTime() / 1000);
    const rate = (number) => number / intervalSeconds;
    return {
        requests: [at, items.map((one) => rate(one.requests)), items.map((one) => rate(one.failures))],
        // No requests, no latency: a line at zero would mean fast answers.
        latency: [
            at,
            items.map((one) => (one.requests ? one.p95Ms : null)),
            items.map((one) => (one.requests ? one.meanMs : null)),
        ],
    };
}
