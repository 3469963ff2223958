// The filters above a list of entries; their values are in the URL.

import { countFilters, withoutFilters } from "../filters.js";
import { words } from "../formatting.js";
import { setQuery } from "../router.js";
import { html, useState } from "../view.js";
import { Icon } from "./icon.js";
import { Select } from "./pieces.js";

export const KINDS = [
    "note", "fact", "procedure", "decision", "task", "question", "codeSnippet", "observation",
    "timelineEvent", "conversationTurn", "document", "chunk", "entity",
];
const any = (text) => ["", text];
const named = (names) => names.map((name) => [name, words(name)]);

/** Filters behind "More filters"; they are also shown when one of them is set. */
const RARE = ["namespace", "agent", "epic", "priority", "since", "until", "retention"];

const SORTS = [
    ["", "Recently updated"], ["updated", "Least recently updated"], ["-created", "Newest"], ["created", "Oldest"],
    ["title", "Title"], ["-priority", "Priority"],
];

export function EntryFilters({ query }) {
    const [isMore, setMore] = useState(() => RARE.some((name) => query[name]));
    const set = (name) => (value) => setQuery({ [name]: value, cursor: "", page: "", id: "" }, { replace: true });
    const field = (name, label, type = "text") => html`<input class="form-control form-control-sm" type=${type}
        aria-label=${label} title=${label} placeholder=${label} value=${query[name] ?? ""}
        onChange=${(event) => set(name)(event.target.value.trim())} />`;
    const pick = (name, label, options) => html`<${Select} isSmall label=${label} value=${query[name] ?? ""}
        options=${options} onPick=${set(name)} />`;
    const total = countFilters(query);
    return html`<div class=${`filters ${isMore || total > 0 ? "" : "folds"}`}>
        ${pick("kind", "Kind", [any("Any kind"), ...named(KINDS)])}
        ${pick("tier", "Trust", [any("Any trust"), ...named(["provisional", "curated", "canonical"])])}
        ${field("tag", "Tag")}
        ${pick("pinned", "Pinned", [any("Pinned or not"), ["yes", "Pinned"], ["no", "Not pinned"]])}
        ${isMore && html`
            ${pick("retention", "Retention", [any("Any retention"), ...named(["short", "mid", "long"])])}
            ${field("namespace", "Namespace")}
            ${field("agent", "Agent")}
            ${field("epic", "Epic")}
            ${field("priority", "Minimum priority", "number")}
            ${field("since", "Updated after", "date")}
            ${field("until", "Updated before", "date")}`}
        ${!query.q && pick("sort", "Sort by", SORTS)}
        <button class="btn btn-bare btn-sm" type="button" aria-expanded=${isMore} onClick=${() => setMore(!isMore)}>
            <${Icon} name="sliders" /><span>${isMore ? "Fewer" : "More"} filters</span>
        </button>
        ${total > 0 && html`<button class="btn btn-bare btn-sm" type="button"
            onClick=${() => setQuery({ ...withoutFilters(query), cursor: "", page: "" }, { replace: true })}>
            <${Icon} name="x-lg" /><span>Clear ${total}</span>
        </button>`}
    </div>`;
}
