// Overview: the health of the server and its stores, now and in the last hour.

import * as api from "../api.js";
import { ago, count, moment, plural, size } from "../formatting.js";
import { isUnderWay } from "../jobs.js";
import { useEvery, useLoaded } from "../loading.js";
import { PAGES } from "../pages.js";
import { fixOf, reasonOf, titleOf } from "../problems.js";
import { hrefOf } from "../router.js";
import { columnsOf } from "../series.js";
import { isAdmin, projects, session } from "../session.js";
import { MEANINGS } from "../tiers.js";
import { html } from "../view.js";
import { Chart } from "../parts/chart.js";
import { FirstSteps } from "../parts/first_steps.js";
import { Icon } from "../parts/icon.js";
import { AccessChip, Card, PageHead, Time } from "../parts/pieces.js";
import { Empty, Loaded } from "../parts/states.js";
import { Table } from "../parts/table.js";

const REFRESH_S = 5;
const BACKUPS_REFRESH_S = 60;
const SHOWN_PROBLEMS = 5;
const TONES = { Healthy: "good", Degraded: "warn", Unhealthy: "bad", Loading: "accent" };
const STORE_COLUMNS = [
    "Project", "Your tier", { name: "Entries", look: "number" }, { name: "Size", look: "number" }, "Last write",
    "State",
];
const EMBEDDERS = { onnx: "By meaning", hash: "By keyword" };

export function Overview({ project }) {
    const health = useLoaded(() => (project ? api.command(project, "health") : null), [project]);
    const series = useLoaded(() => (isAdmin.value ? api.admin("GET", "series") : null), []);
    const backups = useLoaded(() => (isAdmin.value ? api.admin("GET", "backups") : null), []);
    useEvery(REFRESH_S, () => {
        health.reload();
        series.reload();
        if (backups.data?.jobs.some(isUnderWay)) {
            backups.reload();
        }
    });
    useEvery(BACKUPS_REFRESH_S, backups.reload);
    const { tier } = session.value;
    return html`<${PageHead} title="Overview" about=${`You are signed in as ${tier}: you can ${MEANINGS[tier]}.`}>
        ${health.data && html`<span class=${`chip ${TONES[health.data.status]}`}>${health.data.status}</span>`}
    </${PageHead}>
    ${project
        ? html`<${Loaded} from=${health} what="Loading the state of the stores">
            ${(data) => html`<${Report} project=${project} health=${data} series=${series.data}
                backups=${backups.data} />`}
        </${Loaded}>`
        : html`<${Card} isFlush><${Empty} icon="lock" title="You have no access to any project">
            <p>Ask an admin for a tier, or for permission in a project.</p>
        </${Empty}></${Card}>`}`;
}

function Report({ project, health, series, backups }) {
    const conflicts = health.stores.filter((store) => store.conflicts > 0).map((store) => ({
        code: "conflict",
        project: store.name,
        reason: `${plural(store.conflicts, "version")} lost against a hand edit`,
    }));
    const problems = [...health.problems, ...conflicts];
    return html`<div class="stack">
        <${FirstSteps} project=${project} stores=${health.stores} />
        <${Tiles} health=${health} backups=${backups} />
        ${problems.length > 0 && html`<${Problems} problems=${problems} />`}
        <${Stores} stores=${health.stores} />
        ${series && html`<${Charts} series=${series} />`}
    </div>`;
}

function Tiles({ health, backups }) {
    const entries = health.stores.reduce((sum, store) => sum + store.entries, 0);
    const bytes = health.stores.reduce((sum, store) => sum + store.bytes, 0);
    const last = health.stores.map((store) => store.lastWriteUtc ?? "").sort().at(-1);
    const { embedder } = health;
    return html`<div class="tiles">
        <${Tile} label="Entries" value=${count(entries)}
            note=${`${size(bytes)} in ${plural(health.stores.length, "store")}`} />
        <${Tile} label="Last change" value=${last ? ago(last) : "None yet"}
            note=${last ? moment(last) : "no entries yet"} />
        <${Tile} label="Search" value=${embedder ? EMBEDDERS[embedder.kind] : "Starting"}
            note=${embedder ? noteOf(embedder) : "the model is loading"} />
        ${isAdmin.value && html`<${BackupTile} backups=${backups} />`}
        <${Tile} label="Version" value=${health.version}
            note=${html`${isAdmin.value && html`<a href="/metrics">Metrics</a>, `}
            <a href=${hrefOf("help")}>Help</a>`} />
    </div>`;
}

function BackupTile({ backups }) {
    const made = (backups?.items ?? []).map(({ createdUtc }) => createdUtc ?? "").sort().at(-1);
    const next = backups?.nextRunUtc ? `next ${ago(backups.nextRunUtc)}` : "none scheduled";
    return html`<${Tile} label="Last backup" value=${backups ? (made ? ago(made) : "None yet") : "…"}
        note=${html`<a href=${hrefOf("backups")}>${backups ? next : "Backups"}</a>`} />`;
}

function noteOf({ kind, model, dimension }) {
    return kind === "hash" ? "no embedding model" : `${model}, ${dimension} dimensions`;
}

function Tile({ label, value, note }) {
    return html`<div class="card-box tile">
        <div class="tile-label">${label}</div>
        <div class="tile-value">${value}</div>
        <div class="tile-note">${note}</div>
    </div>`;
}

function Problems({ problems }) {
    const isBuilt = (page) => isAdmin.value && PAGES.some(({ name }) => name === page);
    return html`<${Card} title=${plural(problems.length, "problem")} isFlush>
        <ul class="rows">
            ${problems.slice(0, SHOWN_PROBLEMS).map((problem) => {
                const fix = fixOf(problem);
                return html`<li class="row-item">
                    <${Icon} name="exclamation-triangle" />
                    <div>
                        <strong>${titleOf(problem)}</strong>
                        <div class="row-sub">${whereOf(problem)}${reasonOf(problem)}</div>
                    </div>
                    ${isBuilt(fix.page) && html`<a class="above small" href=${fix.href}>${fix.label}</a>`}
                </li>`;
            })}
        </ul>
        ${problems.length > SHOWN_PROBLEMS && isAdmin.value && html`<p class="card-in small mb-0">
            <a href=${hrefOf("problems")}>All ${count(problems.length)} problems</a></p>`}
    </${Card}>`;
}

function whereOf({ project, file, line }) {
    const place = [project, file, line && `line ${line}`].filter(Boolean).join(", ");
    return place ? `${place}: ` : "";
}

function Stores({ stores }) {
    const named = Object.fromEntries(projects.value.map((one) => [one.slug, one]));
    return html`<${Card} title="Stores" isFlush>
        <${Table} label="Stores" columns=${STORE_COLUMNS} rows=${stores.map((store) => ({ key: store.name, cells: [
            html`<a href=${hrefOf("entries", [store.name])}>${named[store.name]?.name ?? store.name}</a>`,
            html`<${AccessChip} tier=${named[store.name]?.tier ?? "none"} />`,
            store.loaded ? count(store.entries) : "…",
            store.loaded ? size(store.bytes) : "…",
            html`<${Time} utc=${store.lastWriteUtc} />`,
            html`<div class="actions">${statesOf(store).map(([tone, text]) => html`<span class=${`chip ${tone}`}>
                ${text}</span>`)}</div>`,
        ] }))} />
    </${Card}>`;
}

function statesOf(store) {
    if (!store.loaded) {
        return [["accent", "loading"]];
    }
    const found = [
        store.readOnly && ["bad", "read-only"],
        store.held && ["bad", "deletion held"],
        store.problems > 0 && ["warn", plural(store.problems, "problem")],
        store.conflicts > 0 && ["warn", plural(store.conflicts, "conflict")],
        store.indexes?.state === "rebuilding" && ["accent", "rebuilding indexes"],
        store.embeddingBacklog > 0 && ["accent", `${count(store.embeddingBacklog)} to embed`],
    ].filter(Boolean);
    return found.length ? found : [["good", "healthy"]];
}

function Charts({ series }) {
    const { requests, latency } = columnsOf(series);
    if (series.items.length < 2) {
        return html`<${Card} title="Last hour"><p class="text-soft mb-0">
            Charts appear a few seconds after the start of the server.
        </p></${Card}>`;
    }
    return html`<div class="charts">
        <${Card} title="Requests per second">
            <${Chart} label=${`Requests per second, now ${requests[1].at(-1)}`} data=${requests}
                format=${(value) => `${value}`}
                series=${[{ name: "requests", tone: "accent", isFilled: true }, { name: "errors", tone: "bad" }]} />
        </${Card}>
        <${Card} title="Response time">
            <${Chart} label="Response time in milliseconds" data=${latency}
                format=${(value) => `${value} ms`}
                series=${[{ name: "p95", tone: "accent", isFilled: true }, { name: "mean", tone: "second" }]} />
        </${Card}>
    </div>`;
}
