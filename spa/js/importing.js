// Splits an import into batches and sums up its report.

/** The largest batch, in entries and in characters of JSON. */
const BATCH_ENTRIES = 200;
const BATCH_CHARACTERS = 1_000_000;
/** The number of faults that are listed; the rest is only counted. */
const LISTED_FAULTS = 200;

const ENDINGS = { jsonl: "jsonl", ndjson: "jsonl", json: "json", md: "markdown", markdown: "markdown", csv: "csv" };

/** Return the format that the name of a file suggests. */
export function formatOf(name, fallback = "jsonl") {
    return ENDINGS[name.split(".").at(-1).toLowerCase()] ?? fallback;
}

/** Yield `[{ place, entry }]` in batches that one request can carry. */
export function* batchesOf(items) {
    let batch = [];
    let size = 0;
    for (const item of items) {
        const length = JSON.stringify(item.entry).length;
        if (batch.length && (batch.length >= BATCH_ENTRIES || size + length > BATCH_CHARACTERS)) {
            yield batch;
            batch = [];
            size = 0;
        }
        batch.push(item);
        size += length;
    }
    if (batch.length) {
        yield batch;
    }
}

/** Return an empty report. */
export function emptyReport() {
    return { found: 0, stored: 0, replaced: 0, known: 0, refused: 0, faults: [], notes: [] };
}

/** Return a report with one more fault. */
export function withFault(report, place, message) {
    const faults = report.faults.length < LISTED_FAULTS ? [...report.faults, { place, message }] : report.faults;
    return { ...report, refused: report.refused + 1, faults };
}

/** Return a report with the answer of `bulkImport` to a batch added. */
export function withAnswer(report, batch, { imported, updated, skipped, errors, warnings = [] }) {
    const known = report.known + skipped - errors.length;
    const said = warnings.map(({ index, message }) => ({ place: batch[index]?.place ?? "", message }));
    const notes = [...report.notes, ...said].slice(0, LISTED_FAULTS);
    const counted = { ...report, stored: report.stored + imported, replaced: report.replaced + updated, known, notes };
    return errors.reduce((sum, { index, message }) => withFault(sum, batch[index].place, message), counted);
}
