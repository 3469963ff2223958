// Activity: who stored, changed or recalled what, by agent, live.

import * as api from "../api.js";
import { actorsOf, linesOf, WHATS } from "../activity.js";
import { localId, words } from "../formatting.js";
import { useEvery, useLoaded } from "../loading.js";
import { hrefOf, place, setQuery } from "../router.js";
import { projects } from "../session.js";
import { html } from "../view.js";
import { Icon } from "../parts/icon.js";
import { Card, PageHead, Select, Time } from "../parts/pieces.js";
import { Empty, Loaded } from "../parts/states.js";

const REFRESH_S = 3;
const RECORDS = 100;
const TITLES = 200;
const ICONS = { stored: "plus-lg", changed: "pencil", recalled: "search", removed: "archive", events: "gear" };

export function Activity() {
    const { project, who, what } = place.value.query;
    const asked = { project, size: RECORDS, recalls: true };
    const page = useLoaded(() => api.admin("GET", "audit", { query: asked }), [project]);
    useEvery(REFRESH_S, page.reload);
    const all = page.data ? linesOf(page.data) : [];
    const lines = all.filter((line) => (!who || line.who === who) && (!what || line.what === what));
    const titles = useTitles(lines);
    const options = [["", "All projects"], ...projects.value.map(({ slug, name }) => [slug, name])];
    return html`<${PageHead} title="Activity"
        about="What agents and users stored, changed and recalled; it updates itself. Recalls since the last start." />
    <div class="stack-sm">
        <div class="filters">
            <${Select} isSmall label="Project" value=${project ?? ""} options=${options}
                onPick=${(slug) => setQuery({ project: slug })} />
            <${Select} isSmall label="Agent or user" value=${who ?? ""} onPick=${(name) => setQuery({ who: name })}
                options=${[["", "Everyone"], ...actorsOf(all).map((name) => [name, name])]} />
            <${Select} isSmall label="What" value=${what ?? ""} onPick=${(name) => setQuery({ what: name })}
                options=${[["", "Everything"], ...WHATS.map((name) => [name, words(name)])]} />
        </div>
        <${Card} isFlush><${Loaded} from=${page} what="Loading the activity">${() => (lines.length === 0
            ? html`<${Empty} icon="graph-up" title="No activity yet">
                <p>What agents and users do appears here.</p></${Empty}>`
            : html`<ul class="rows" aria-label="Activity">
                ${lines.map((line) => html`<${Line} key=${line.key} line=${line} titles=${titles} />`)}</ul>`)}
        </${Loaded}></${Card}>
        <p class="small text-soft mb-0">Older records are in the <a href=${hrefOf("logs", [], { show: "audit" })}>audit
            log</a>.</p>
    </div>`;
}

function Line({ line, titles }) {
    const { who, user, verb, what, project, ids, more, atUtc } = line;
    return html`<li class="row-item">
        <${Icon} name=${ICONS[what]} />
        <div>
            <p class="mb-0"><strong>${who}</strong> ${verb}${" "}
                ${ids.map((id, at) => html`${at > 0 && ", "}<a href=${hrefOf("entries", [project], { id })} key=${id}>
                    ${titles.get(id) ?? localId(id)}</a>`)}${more > 0 && ` and ${more} more`}</p>
            <div class="row-meta">${project && html`<span class="chip">${project}</span>`}
                ${user !== who && html`<span>user ${user}</span>`}</div>
        </div>
        <div class="row-side"><${Time} utc=${atUtc} /></div>
    </li>`;
}

/** Return the titles of the entries changed last in the projects of the lines, by id. */
function useTitles(lines) {
    const slugs = [...new Set(lines.filter(({ ids }) => ids.length).map(({ project }) => project))]
        .filter((slug) => projects.value.some((one) => one.slug === slug)).sort();
    const newest = lines[0]?.key;
    const found = useLoaded(async () => {
        const lists = await Promise.all(slugs.map((slug) => api.command(slug, "listEntries",
            { page: { size: TITLES } }).catch(() => ({ items: [] }))));
        return new Map(lists.flatMap(({ items }) => items.map(({ id, title }) => [id, title])));
    }, [slugs.join(" "), newest]);
    return found.data ?? new Map();
}
