// The saved searches of a project above its list, and a form to save the current one.

import { countFilters } from "../filters.js";
import { hrefOf } from "../router.js";
import { isSame, readSearches, withSearch, writeSearches } from "../saved_searches.js";
import { html, useState } from "../view.js";
import { FormDialog } from "./dialog.js";
import { Icon } from "./icon.js";
import { Field } from "./pieces.js";
import { say } from "./toasts.js";

export function SavedSearches({ project, query }) {
    const [searches, setSearches] = useState(() => readSearches(project));
    const [isNaming, setNaming] = useState(false);
    const isSearch = Boolean(query.q) || countFilters(query) > 0;
    const isSaved = searches.some((one) => isSame(one.query, query));
    const keep = (next) => {
        setSearches(next);
        writeSearches(project, next);
    };
    const remove = (gone) => {
        keep(searches.filter((one) => one !== gone));
        say(`Search “${gone.name}” removed.`, { label: "Undo", run: () => keep(searches) });
    };
    if (searches.length === 0 && !isSearch) {
        return null;
    }
    return html`<div class="filters" role="group" aria-label="Saved searches">
        ${searches.map((one) => html`<span class=${`chip ${isSame(one.query, query) ? "accent" : ""}`} key=${one.name}>
            <a href=${hrefOf("entries", [project], one.query)}>${one.name}</a>
            <button type="button" class="chip-button" aria-label=${`Remove the search ${one.name}`}
                onClick=${() => remove(one)}>✕</button>
        </span>`)}
        ${isSearch && !isSaved && html`<button class="btn btn-bare btn-sm" type="button"
            onClick=${() => setNaming(true)}><${Icon} name="plus-lg" /><span>Save this search</span></button>`}
        ${isNaming && html`<${NameDialog} start=${query.q ?? query.tag ?? ""} onClose=${() => setNaming(false)}
            onName=${(name) => keep(withSearch(searches, name, query))} />`}
    </div>`;
}

function NameDialog({ start, onName, onClose }) {
    const [name, setName] = useState(start);
    return html`<${FormDialog} title="Save this search" label="Save" isReady=${name.trim() !== ""} onClose=${onClose}
        submit=${() => onName(name)}>
        <${Field} label="Name" hint="Kept in this browser, for this project.">
            ${(field) => html`<input ...${field} class="form-control" maxlength="60" value=${name}
                onInput=${(event) => setName(event.target.value)} />`}</${Field}>
    </${FormDialog}>`;
}
