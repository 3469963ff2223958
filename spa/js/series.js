// The figures of the last hour, as charts take them.

/** Return the columns of the charts: requests per second, and milliseconds. */
export function columnsOf({ items, intervalSeconds }) {
    const at = items.map((one) => new Date(one.atUtc).getTime() / 1000);
    const rate = (number) => number / intervalSeconds;
    return {
        requests: [at, items.map((one) => rate(one.requests)), items.map((one) => rate(one.failures))],
        // A moment without requests took no time; a line at zero would claim it was quick.
        latency: [
            at,
            items.map((one) => (one.requests ? one.p95Ms : null)),
            items.map((one) => (one.requests ? one.meanMs : null)),
        ],
    };
}
