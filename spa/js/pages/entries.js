// Entries: search or browse a project, and view or edit one entry beside the list.

import * as api from "../api.js";
import { collectIds } from "../bulk.js";
import { copyOf, getEntry } from "../entries.js";
import { lineOf } from "../entry_text.js";
import { countFilters, filterOf } from "../filters.js";
import { plural, projectOf } from "../formatting.js";
import { useKeys } from "../keys.js";
import { useLoaded } from "../loading.js";
import { hrefOf, place, setQuery } from "../router.js";
import { mayIn } from "../session.js";
import { splitByRelevance } from "../scores.js";
import { vectorsLine } from "../vectors.js";
import { html, useEffect, useRef, useState } from "../view.js";
import { BulkBar } from "../parts/bulk_bar.js";
import { EntryEditor } from "../parts/entry_editor.js";
import { EntryFilters } from "../parts/entry_filters.js";
import { EntryList } from "../parts/entry_list.js";
import { EntryPanel } from "../parts/entry_panel.js";
import { Icon } from "../parts/icon.js";
import { Pager, useFreshStart } from "../parts/pager.js";
import { Card, PageHead } from "../parts/pieces.js";
import { SavedSearches } from "../parts/saved_searches.js";
import { Empty, Loaded } from "../parts/states.js";
import { complain } from "../parts/toasts.js";

const PAGE_SIZE = 50;
const MOST_RESULTS = 200;
const TYPING_MS = 250;
const MODES = {
    hybrid: "by keyword and meaning", keyword: "by keyword", "keyword+hash": "by keyword, without a model",
};

export function Entries({ project }) {
    const { query } = place.value;
    const filterKey = JSON.stringify(filterOf(query) ?? {});
    const found = useLoaded(() => find(project, query),
        [project, query.q, filterKey, query.sort, query.cursor, query.most]);
    useFreshStart(found.error);
    const [selected, setSelected] = useState(new Set());
    useEffect(() => setSelected(new Set()), [project, query.q, filterKey, query.cursor]);
    const mayWrite = mayIn(project, "writer");
    const select = (id) => setSelected((before) => {
        const after = new Set(before);
        after.delete(id) || after.add(id);
        return after;
    });
    const total = useLoaded(() => (query.q ? null : countOf(project, query)), [project, Boolean(query.q), filterKey]);
    const { strong, weak } = splitByRelevance(found.data?.results ?? []);
    const shown = query.weak ? [...strong, ...weak] : strong;
    const own = shown.map(({ entry }) => entry.id).filter((id) => projectOf(id) === project);
    const done = () => {
        setSelected(new Set());
        found.reload();
        total.reload();
    };
    const selectMatching = () => collectIds((cursor) => api.command(project, "listEntries", {
        filter: filterOf(query), sort: query.sort || undefined, include: "ids", page: { size: MOST_RESULTS, cursor },
    })).then((ids) => setSelected(new Set(ids)), complain);
    useListKeys(mayWrite);
    const isNew = mayWrite && !query.id && Boolean(query.new || query.copy);
    return html`<${PageHead} title="Entries" about=${aboutOf(found.data, total.data, query)}>
        ${mayWrite && html`<button class="btn btn-primary" onClick=${() => setQuery({ new: "note", id: "", copy: "" })}>
            <${Icon} name="plus-lg" /><span>New entry</span></button>`}
    </${PageHead}>
    <div class=${`split ${query.id || isNew ? "open" : ""}`}>
        <div class="split-list stack-sm">
            <${SearchBox} query=${query} />
            <${EntryFilters} query=${query} />
            <${SavedSearches} key=${project} project=${project} query=${query} />
            <${Card} isFlush>
                <${Loaded} from=${found} what="Loading entries">${({ results, nextCursor }) => (results.length === 0
                    ? html`<${Nothing} query=${query} mayWrite=${mayWrite} />`
                    : html`<div class="fades" aria-busy=${found.isLoading}>
                        <${EntryList} results=${shown} project=${project} openId=${query.id}
                            selected=${selected} onSelect=${mayWrite ? select : null} />
                        ${weak.length > 0 && html`<${Fold} number=${weak.length} isOpen=${Boolean(query.weak)} />`}
                        ${!query.q && html`<${Pager} cursor=${query.cursor} page=${query.page} next=${nextCursor}
                            shown=${results.length} size=${PAGE_SIZE} total=${total.data?.entries}
                            go=${(place) => setQuery({ ...place, id: "" })} />`}
                        <${More} data=${found.data} />
                    </div>`)}</${Loaded}>
                ${selected.size > 0 && html`<${BulkBar} project=${project} selected=${selected} onDone=${done}
                    ids=${own} onAll=${() => setSelected(new Set([...selected, ...own]))}
                    total=${query.q ? 0 : total.data?.entries} onMatching=${selectMatching}
                    onClear=${() => setSelected(new Set())} />`}
            </${Card}>
        </div>
        ${query.id && html`<${EntryPanel} key=${query.id} project=${project} id=${query.id}
            isEditing=${query.edit === "yes"} onChange=${done} />`}
        ${isNew && html`<${NewEntry} key=${query.copy ?? "new"} project=${project}
            query=${query} onSaved=${found.reload} />`}
    </div>`;
}

async function find(project, query) {
    const filter = filterOf(query);
    if (query.q) {
        const most = query.most ? MOST_RESULTS : PAGE_SIZE;
        const wanted = { text: query.q, filter, explain: true, maxResults: most };
        return { ...await api.command(project, "searchEntries", { query: wanted }), most };
    }
    const page = { size: PAGE_SIZE, cursor: query.cursor || undefined };
    const request = { filter, sort: query.sort || undefined, page, include: "full" };
    const { items, nextCursor, flags } = await api.command(project, "listEntries", request);
    return { results: items.map((entry) => rowOf(entry, flags?.[entry.id])), nextCursor };
}

function countOf(project, query) {
    return api.command(project, "stats", { filter: filterOf(query) });
}

/** Return an entry as a result of a search, with a line of its text. */
function rowOf(entry, flags) {
    const { timestamps, tags = [] } = entry;
    return { entry: { ...entry, tags, updatedUtc: timestamps.updatedUtc }, line: lineOf(entry), flags };
}

function aboutOf(data, total, query) {
    if (!data?.most) {
        const number = total ? plural(total.entries, "entry", "entries") : "";
        return total ? `${number}${countFilters(query) ? " with these filters" : ""}.` : "The memories of your agents.";
    }
    const number = data.results.length;
    const results = number < data.most ? plural(number, "result") : `Top ${number} results`;
    return `${results}, found ${MODES[data.mode] ?? ""}. ${vectorsLine(data)}`.trim();
}

function SearchBox({ query }) {
    const field = useRef(null);
    const timer = useRef(null);
    const [text, setText] = useState(query.q ?? "");
    useEffect(() => setText(query.q ?? ""), [query.q]);
    useEffect(() => {
        if (query.focus === "search") {
            field.current.focus();
            setQuery({ focus: "" }, { replace: true });
        }
        return () => clearTimeout(timer.current);
    }, []);
    const search = (q) => setQuery({ q, cursor: "", page: "", id: "", most: "", weak: "" }, { replace: true });
    const onInput = (event) => {
        setText(event.target.value);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => search(event.target.value.trim()), TYPING_MS);
    };
    const searchNow = () => {
        clearTimeout(timer.current);
        if (text.trim() !== (query.q ?? "")) {
            search(text.trim());
        }
    };
    const onKeyDown = (event) => {
        if (event.key === "Enter") {
            searchNow();
        } else if (event.key === "ArrowDown") {
            event.preventDefault();
            searchNow();
            document.querySelector("[data-entry]")?.focus();
        } else if (event.key === "Escape") {
            field.current.blur();
        }
    };
    return html`<div class="search-box" role="search">
        <${Icon} name="search" />
        <input class="form-control" type="search" data-search ref=${field} aria-label="Search entries"
            placeholder="Search by keyword or meaning, an id, or “an exact phrase”" value=${text}
            onInput=${onInput} onKeyDown=${onKeyDown} />
        <kbd aria-hidden="true">/</kbd>
    </div>`;
}

/** Offer the results below the relevance line. */
function Fold({ number, isOpen }) {
    return html`<button class="fold" type="button" aria-expanded=${isOpen}
        onClick=${() => setQuery({ weak: isOpen ? "" : "shown" }, { replace: true })}>
        ${isOpen ? "Hide" : "Show"} ${plural(number, "less relevant result")}</button>`;
}

function useListKeys(mayWrite) {
    const move = (step) => {
        const links = [...document.querySelectorAll("[data-entry]")];
        const at = links.indexOf(document.activeElement);
        links[Math.max(0, Math.min(links.length - 1, at + step))]?.focus();
    };
    useKeys("List", {
        j: { does: "Next entry", run: () => move(1) },
        k: { does: "Previous entry", run: () => move(-1) },
        ...(mayWrite && { n: { does: "New entry", run: () => setQuery({ new: "note", id: "", copy: "" }) } }),
    });
}

function Nothing({ query, mayWrite }) {
    if (query.q || countFilters(query) > 0) {
        return html`<${Empty} icon="search" title="No results">
            <p>Try other words or fewer filters.</p>
        </${Empty}>`;
    }
    return html`<${Empty} title="No entries yet">
        <p>${mayWrite
            ? html`Create the first one, or <a href=${hrefOf("projects")}>connect an agent</a>.`
            : "Entries appear here when an agent or a user writes them."}</p>
    </${Empty}>`;
}

/** Show that the results are limited, and offer more. */
function More({ data: { results, most } }) {
    if (!most || results.length < most) {
        return null;
    }
    return html`<div class="pager">${most < MOST_RESULTS
        ? html`<span>Top ${most} results.</span>
            <button class="btn btn-quiet btn-sm" onClick=${() => setQuery({ most: "all" }, { replace: true })}>
                Show more</button>`
        : html`<span>Top ${most} results. Add words or filters to find others.</span>`}</div>`;
}

function NewEntry({ project, query, onSaved }) {
    const start = useLoaded(async () => (query.copy
        ? copyOf((await getEntry(project, query.copy)).entry)
        : { kind: query.new, body: {} }), [query.copy]);
    const saved = (id) => {
        setQuery({ new: "", copy: "", id }, { replace: true });
        onSaved();
    };
    return html`<aside class="panel" aria-label="New entry"><${Card} isFlush>
        <${Loaded} from=${start}>${(entry) => html`<${EntryEditor} project=${project} entry=${entry}
            onSaved=${saved} onCancel=${() => setQuery({ new: "", copy: "" })} />`}</${Loaded}>
    </${Card}></aside>`;
}
