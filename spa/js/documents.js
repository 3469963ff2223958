// Documents in words: types, places of chunks, outcomes of uploads. No UI.

const NAMES = {
    "text/plain": "Text", "text/markdown": "Markdown", "text/html": "HTML", "application/json": "JSON",
    "text/csv": "CSV", "text/x-source": "Source code", "application/pdf": "PDF", "application/epub+zip": "EPUB",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "DOCX",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "PPTX",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "XLSX",
};
const SLIDES = "PPTX";
const LONGEST_LOCAL = 100;

/** The largest file that the server reads. */
export const MOST_BYTES = 25 * 1024 * 1024;

/** Return a short name of a media type. */
export function typeName(mime) {
    return NAMES[mime] ?? mime ?? "Unknown type";
}

/** Return where a chunk stands: `page 3`, or `slide 3` of a presentation; empty if it has no page. */
export function pageOf({ page }, mime) {
    return page === undefined || page === null ? "" : `${typeName(mime) === SLIDES ? "slide" : "page"} ${page}`;
}

/** Return the last heading above a chunk, and those above that one. */
export function headingOf({ heading = "" }) {
    const parts = (heading ?? "").split(" > ");
    return { last: parts.at(-1), above: parts.slice(0, -1).join(" › ") };
}

/** Return what an upload did to the project. */
export function outcomeOf({ created, updated }) {
    return created ? "stored" : updated ? "replaced" : "unchanged";
}

/** Count the references by the chunk that they name; those to the whole document are under "". */
export function countRefs(refs) {
    const counts = new Map();
    for (const { chunkId = "" } of refs) {
        counts.set(chunkId, (counts.get(chunkId) ?? 0) + 1);
    }
    return counts;
}

/** Return the id of the document with this file name that no folder sync stored, or undefined. */
export function sameName(documents, name) {
    return documents.find(({ metadata = {} }) => metadata.path === name && !metadata.folder)?.id;
}

/** Return how the ids of a document's chunks begin; the server cuts long ids. */
export function chunkPrefix(id) {
    const start = id.indexOf(":") + 1;
    return `${id.slice(0, start + LONGEST_LOCAL)}.`;
}

/** Return the values of two versions of a document that differ, as `[name, before, after]`. */
export function factsChanged(before, after) {
    const rows = Object.entries(factsOf(after)).map(([name, value]) => [name, factsOf(before)[name], value]);
    return rows.filter(([, old, young]) => old !== young);
}

function factsOf(entry) {
    const { title = "", tags = [], curationTier = "provisional", metadata = {}, body = {} } = entry ?? {};
    return {
        Title: title, Tags: [...tags].sort().join(", "), Trust: entry ? curationTier : "",
        Pages: textOf(metadata.pages), Characters: textOf(metadata.characters), Chunks: textOf(metadata.chunkCount),
        SHA256: (body.sha256 ?? "").slice(0, 12),
    };
}

function textOf(value) {
    return value === undefined || value === null ? "" : String(value);
}
