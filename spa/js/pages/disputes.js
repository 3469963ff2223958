// Disputes: contradicting entries and near duplicates.

import * as api from "../api.js";
import { getEntry } from "../entries.js";
import { plural, words } from "../formatting.js";
import { useLoaded } from "../loading.js";
import { hrefOf, place, setQuery } from "../router.js";
import { html, useState } from "../view.js";
import { EntryBody } from "../parts/entry_body.js";
import { FormDialog } from "../parts/dialog.js";
import { Card, CurationChip, Kind, PageHead, Time } from "../parts/pieces.js";
import { Empty, Failed, Loaded, Loading } from "../parts/states.js";
import { Tabs } from "../parts/tabs.js";
import { say } from "../parts/toasts.js";

const SHOWN = 10;
const MOST_PAIRS = 200;
const REASONS = {
    stated: "One is linked as contradicting the other", negation: "One negates the other",
    value: "Different values", date: "Different dates",
};

export function Disputes({ project }) {
    const isAlike = place.value.query.show === "alike";
    return html`<${PageHead} title="Disputes"
        about="Choose the correct one of two entries: it supersedes the other, which no longer appears in results." />
    <${Tabs} label="Disputes" isFirst tabs=${[["", "Contradictions"], ["alike", "Duplicates"]]}
        chosen=${isAlike ? "alike" : ""} onPick=${(show) => setQuery({ show })} />
    <${Pairs} key=${`${project} ${isAlike}`} project=${project} find=${isAlike ? alike : contradicting}
        isAlike=${isAlike} />`;
}

async function contradicting(project) {
    const { items, hasMore } = await api.command(project, "listContradictions");
    const whyOf = (reason) => REASONS[reason] ?? words(reason);
    return {
        pairs: items.map(({ id, otherId, reason }) => ({ a: id, b: otherId, why: whyOf(reason) })), hasMore, note: "",
    };
}

async function alike(project) {
    const { pairs, compared } = await api.command(project, "findDuplicates", { maxPairs: MOST_PAIRS });
    return {
        pairs: pairs.map(({ a, b, score }) => ({ a, b, why: `${Math.round(score * 100)} % similar` })),
        hasMore: pairs.length === MOST_PAIRS,
        note: `Compared the ${plural(compared, "most recently changed entry", "most recently changed entries")}.`,
    };
}

function Pairs({ project, find, isAlike }) {
    const loaded = useLoaded(() => find(project), [project]);
    const [settled, setSettled] = useState(new Set());
    const settle = (pair) => setSettled(new Set(settled).add(nameOf(pair)));
    return html`<${Loaded} from=${loaded} what="Comparing entries">${({ pairs, hasMore, note }) => {
        const left = pairs.filter((pair) => !settled.has(nameOf(pair)));
        if (left.length === 0) {
            return html`<${Card} isFlush><${Empty} icon="check2"
                title=${isAlike ? "No duplicates" : "No contradictions"}>
                <p>${note || "Contradictions appear here until they are resolved."}</p>
            </${Empty}></${Card}>`;
        }
        return html`<div class="stack">
            <p class="text-soft mb-0" role="status">
                ${plural(left.length, "pair")}${hasMore ? " or more" : ""} to resolve.
                ${left.length > SHOWN && ` Showing the first ${SHOWN}.`} ${note}</p>
            ${left.slice(0, SHOWN).map((pair) => html`<${Pair} key=${nameOf(pair)} project=${project} pair=${pair}
                isAlike=${isAlike} onSettled=${() => settle(pair)} />`)}
        </div>`;
    }}</${Loaded}>`;
}

function nameOf({ a, b }) {
    return `${a} ${b}`;
}

function Pair({ project, pair, isAlike, onSettled }) {
    const both = useLoaded(() => Promise.all([getEntry(project, pair.a), getEntry(project, pair.b)]), [pair.a, pair.b]);
    const [isMerging, setMerging] = useState(false);
    if (both.error) {
        return html`<${Card}><${Failed} error=${both.error} retry=${both.reload} /></${Card}>`;
    }
    if (!both.data) {
        return html`<${Card}><${Loading} what="Loading the pair" /></${Card}>`;
    }
    const [one, other] = both.data.map(({ entry }) => entry);
    const merge = async () => {
        await api.command(project, "consolidateEntries", { ids: [one.id, other.id], title: one.title });
        say("Merged; the two originals are in the archive.");
        onSettled();
    };
    return html`<${Card} title=${pair.why} isFlush actions=${isAlike && html`<button class="btn btn-quiet btn-sm"
        onClick=${() => setMerging(true)}>Merge</button>`}>
        <div class="beside card-in">
            <${Side} project=${project} entry=${one} loser=${other} onSettled=${onSettled} />
            <${Side} project=${project} entry=${other} loser=${one} onSettled=${onSettled} />
        </div>
        ${isMerging && html`<${FormDialog} title="Merge the two entries?" label="Merge" submit=${merge}
            onClose=${() => setMerging(false)}>
            <p class="mb-0">A new entry combines both. The two originals move to the archive, where they can be
                restored.</p>
        </${FormDialog}>`}
    </${Card}>`;
}

function Side({ project, entry, loser, onSettled }) {
    const [isAsking, setAsking] = useState(false);
    const resolve = async () => {
        await api.command(project, "resolveContradiction", { winner: entry.id, loser: loser.id });
        say(`“${entry.title}” supersedes “${loser.title}”.`);
        onSettled();
    };
    return html`<section class="stack-sm" aria-label=${entry.title}>
        <h3><a href=${hrefOf("entries", [project], { id: entry.id })}>${entry.title}</a></h3>
        <div class="actions"><${Kind} kind=${entry.kind} /><${CurationChip} tier=${entry.curationTier} />
            <${Time} utc=${entry.timestamps.updatedUtc} /></div>
        <${EntryBody} entry=${entry} />
        <div><button class="btn btn-quiet btn-sm" onClick=${() => setAsking(true)}>This one is correct</button></div>
        ${isAsking && html`<${FormDialog} title="Is this one correct?" label="Resolve" submit=${resolve}
            onClose=${() => setAsking(false)}>
            <p class="mb-0">“${entry.title}” will supersede “${loser.title}”, which stays, but no longer appears in
                results.</p>
        </${FormDialog}>`}
    </section>`;
}
