// The chunks of a document with page and heading, loaded in parts.

import * as api from "../api.js";
import { countRefs, headingOf, pageOf } from "../documents.js";
import { count, plural, projectOf } from "../formatting.js";
import { place } from "../router.js";
import { html, useEffect, useRef, useState } from "../view.js";
import { Failed, Loading } from "./states.js";

const AT_ONCE = 50;
const MOST_AT_ONCE = 200;

export function DocumentChunks({ document, refs }) {
    const wanted = place.value.query.chunk;
    const { chunks, next, error, isLoading, more } = useChunks(document, wanted);
    const counts = countRefs(refs);
    if (chunks.length === 0) {
        return error ? html`<${Failed} error=${error} retry=${more} />`
            : isLoading ? html`<${Loading} what="Loading chunks" />`
            : html`<p class="text-soft mb-0">No chunks.</p>`;
    }
    return html`<div class="stack-sm">
        <ol class="chunks" aria-label="Chunks">${chunks.map((chunk) => html`<${Chunk} key=${chunk.id} chunk=${chunk}
            mime=${document.mime} refs=${counts.get(chunk.id) ?? 0} isWanted=${chunk.id === wanted} />`)}</ol>
        ${error && html`<${Failed} error=${error} retry=${more} />`}
        ${next && html`<div class="d-flex gap-2 align-items-center">
            <button class="btn btn-quiet btn-sm" disabled=${isLoading} onClick=${more}>Show more</button>
            <span class="small text-soft" role="status">
                ${count(chunks.length)} of ${plural(document.chunkCount, "chunk")}</span></div>`}
    </div>`;
}

/** Load chunks part by part; those up to the `wanted` one come at once. */
function useChunks(document, wanted) {
    const [state, setState] = useState({ chunks: [], next: undefined, error: null, isLoading: true });
    const isOver = useRef(false);
    const load = async (until) => {
        let { chunks, next } = state;
        setState({ ...state, error: null, isLoading: true });
        try {
            do {
                const part = await api.command(projectOf(document.id), "getDocument", {
                    id: document.id, include: "chunks", page: { size: until ? MOST_AT_ONCE : AT_ONCE, cursor: next },
                });
                chunks = [...chunks, ...part.chunks];
                next = part.nextCursor;
            } while (next && until && !chunks.some(({ id }) => id === until) && !isOver.current);
            !isOver.current && setState({ chunks, next, error: null, isLoading: false });
        } catch (error) {
            !isOver.current && setState({ chunks, next, error, isLoading: false });
        }
    };
    useEffect(() => {
        if (state.chunks.length === 0 || (wanted && state.next && !state.chunks.some(({ id }) => id === wanted))) {
            load(wanted);
        }
    }, [wanted]);
    useEffect(() => () => {
        isOver.current = true;
    }, []);
    return { ...state, more: () => load() };
}

function Chunk({ chunk, mime, refs, isWanted }) {
    const box = useRef(null);
    useEffect(() => {
        if (isWanted) {
            box.current.scrollIntoView({ block: "nearest" });
            box.current.focus({ preventScroll: true });
        }
    }, [isWanted]);
    const { last, above } = headingOf(chunk);
    const page = pageOf(chunk, mime);
    return html`<li class=${`chunk ${isWanted ? "wanted" : ""}`} ref=${box} tabindex="-1" data-id=${chunk.id}
        aria-current=${isWanted ? "true" : undefined}>
        <div class="chunk-head">
            <span class="chunk-number">${chunk.ordinal + 1}</span>
            ${page && html`<span class="chip">${page}</span>`}
            ${last && html`<span class="chunk-heading">
                ${above && html`<span class="text-soft">${above} › </span>`}<strong>${last}</strong></span>`}
            ${refs > 0 && html`<span class="chip accent">${plural(refs, "reference")}</span>`}
        </div>
        <p class="body-text">${chunk.text.trim()}</p>
    </li>`;
}
