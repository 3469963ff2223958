// The list of entries: rows, selection, and the explanation of scores.

import { markedPieces, projectOf } from "../formatting.js";
import { hrefOf, place } from "../router.js";
import { explain } from "../scores.js";
import { html, useMemo, useState } from "../view.js";
import { Icon } from "./icon.js";
import { CurationChip, Kind, Time } from "./pieces.js";

const SHOWN_TAGS = 5;

export function EntryList({ results, project, openId, selected, onSelect }) {
    const { id, edit, new: _new, copy, focus, ...kept } = place.value.query;
    const address = JSON.stringify(kept);
    return html`<ul class="rows" aria-label="Entries">
        ${results.map((result) => html`<${Row} key=${result.entry.id} result=${result} project=${project}
            address=${address} isCurrent=${result.entry.id === openId} isSelected=${selected?.has(result.entry.id)}
            onSelect=${onSelect} />`)}
    </ul>`;
}

/** A row is rendered again only when it changes: with two hundred rows a click would lag. */
function Row({ result, project, address, isCurrent, isSelected, onSelect }) {
    const [isOpen, setOpen] = useState(false);
    const query = JSON.parse(address);
    return useMemo(() => drawRow({ result, project, query, isCurrent, isSelected, onSelect, isOpen, setOpen }),
        [result, project, address, isCurrent, isSelected, Boolean(onSelect), isOpen]);
}

function drawRow({ result, project, query, isCurrent, isSelected, onSelect, isOpen, setOpen }) {
    const { entry, snippet, line, flags = [] } = result;
    const isForeign = projectOf(entry.id) !== project;
    const isScored = result.score !== undefined;
    return html`<li class=${`row-item ${isCurrent ? "current" : ""}`} data-id=${entry.id}>
        <span class="above">${onSelect && !isForeign
            ? html`<input type="checkbox" class="form-check-input" checked=${isSelected}
                aria-label=${`Select ${entry.title}`} onChange=${() => onSelect(entry.id)} />`
            : isForeign && html`<${Icon} name="link-45deg" />`}</span>
        <div>
            <a class="row-title" href=${hrefOf("entries", [project], { ...query, id: entry.id })}
                data-entry=${entry.id}>${entry.title}</a>
            ${snippet && html`<div class="row-sub">${markedPieces(snippet).map(
                ({ text, isMarked }) => (isMarked ? html`<mark>${text}</mark>` : text),
            )}</div>`}
            ${!snippet && line && html`<div class="row-sub one-line">${line}</div>`}
            <div class="row-meta">
                <${Kind} kind=${entry.kind} />
                ${isForeign && html`<span class="chip accent">${projectOf(entry.id)}</span>`}
                ${entry.tags.slice(0, SHOWN_TAGS).map((tag) => html`<a class="chip above" key=${tag}
                    href=${hrefOf("entries", [project], { ...query, tag, cursor: "", page: "" })}>${tag}</a>`)}
                ${entry.tags.length > SHOWN_TAGS && html`<span>+${entry.tags.length - SHOWN_TAGS}</span>`}
                ${flags.map((flag) => html`<${FlagChip} key=${flag} flag=${flag} />`)}
                ${isScored && html`<button class="btn btn-bare btn-sm above" type="button"
                    aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>Explain</button>`}
            </div>
        </div>
        <div class="row-side">
            ${entry.pinned && html`<span title="Pinned"><${Icon} name="pin-angle-fill" />
                <span class="visually-hidden">Pinned</span></span>`}
            <${CurationChip} tier=${entry.curationTier} />
            <${Time} utc=${entry.updatedUtc} />
        </div>
        ${isScored && isOpen && html`<${Why} result=${result} />`}
    </li>`;
}

export function FlagChip({ flag }) {
    const texts = {
        hiddenUnicode: "invisible characters", instructionLike: "reads like an instruction",
        secret: "may contain a secret",
    };
    return html`<span class="chip warn"><${Icon} name="exclamation-triangle" />${texts[flag] ?? flag}</span>`;
}

function Why({ result }) {
    const { found, parts, total } = explain(result);
    return html`<div class="why above">
        <div class="why-bars">
            ${parts.map((part) => html`
                <span>${part.name}</span>
                <progress max=${total || 1} value=${part.share} aria-label=${part.name}></progress>
                <span class="number">${part.share.toFixed(3)}</span>`)}
            <strong>Score</strong><span></span><strong class="number">${total.toFixed(3)}</strong>
        </div>
        ${found.length > 0 && html`<p class="small text-soft mt-2 mb-0">
            Found by ${found.map((stage) => `${stage.name.toLowerCase()} (rank ${stage.rank})`).join(", ")}.
            ${result.provenance?.exact && ` Exact match of the ${result.provenance.exact}.`}
        </p>`}
    </div>`;
}
