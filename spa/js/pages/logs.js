// Logs and audit: the server log and the audit log.

import * as api from "../api.js";
import { moment, plural } from "../formatting.js";
import { useEvery, useLoaded } from "../loading.js";
import { place, setQuery } from "../router.js";
import { projects } from "../session.js";
import { html, useState } from "../view.js";
import { Icon } from "../parts/icon.js";
import { Pager } from "../parts/pager.js";
import { Card, Check, PageHead, Select, TextFilter } from "../parts/pieces.js";
import { Empty, Loaded, Notice } from "../parts/states.js";
import { Table } from "../parts/table.js";
import { Tabs } from "../parts/tabs.js";
import { complain } from "../parts/toasts.js";

const FOLLOW_S = 2;
const LEVELS = ["debug", "info", "warning", "error"];
const TONES = { warning: "warn", error: "bad", critical: "bad", info: "accent" };
const LINES = 200;
const LOG_COLUMNS = [
    { name: "Time", look: "text-nowrap" }, "Level", "Event", { name: "Fields", look: "mono anywhere" },
];
const AUDIT_COLUMNS = [
    { name: "Time", look: "text-nowrap" }, "User", "Command", "Project", { name: "Changes", look: "mono anywhere" },
];
const PAGE_SIZE = 50;

export function Logs() {
    const { query } = place.value;
    const isAudit = query.show === "audit";
    const show = (name) => setQuery({ show: name, text: "", level: "", before: "", page: "" });
    return html`<${PageHead} title="Logs and audit"
        about=${isAudit
            ? "Every change with its user; each record carries the hash of the one before it."
            : "The server log, newest first. It contains no keys and no entry bodies."} />
    <${Tabs} label="Logs" isFirst tabs=${[["", "Log"], ["audit", "Audit"]]} chosen=${isAudit ? "audit" : ""}
        onPick=${show} />
    ${isAudit ? html`<${Audit} query=${query} />` : html`<${Log} query=${query} />`}`;
}

function Log({ query }) {
    const [isFollowing, setFollowing] = useState(false);
    const asked = { size: LINES, level: query.level || "info", text: query.text };
    const lines = useLoaded(() => api.admin("GET", "logs", { query: asked }), [query.level, query.text]);
    useEvery(FOLLOW_S, () => isFollowing && lines.reload());
    return html`<div class="stack-sm">
        <div class="filters">
            <${Select} isSmall label="Level" value=${query.level || "info"}
                options=${LEVELS.map((one) => [one, `${one} and above`])} onPick=${(level) => setQuery({ level })} />
            <${TextFilter} label="Filter lines" value=${query.text}
                onPick=${(text) => setQuery({ text }, { replace: true })} />
            <${Check} label="Follow" value=${isFollowing} onChange=${setFollowing} />
            <button class="btn btn-quiet btn-sm" onClick=${lines.reload}><${Icon} name="arrow-clockwise" />
                <span>Refresh</span></button>
        </div>
        <${Card} isFlush><${Loaded} from=${lines} what="Loading the log">${({ items }) => (items.length === 0
            ? html`<${Empty} icon="terminal" title="No matching lines"><p>Try a lower level.</p></${Empty}>`
            : html`<${Table} label="The log" columns=${LOG_COLUMNS} rows=${items.toReversed().map(rowOf)}
                isDense isTall />`)}
        </${Loaded}></${Card}>
    </div>`;
}

function rowOf({ time, level, message, logger, traceback, ...fields }) {
    const shown = (value) => (typeof value === "string" ? value : JSON.stringify(value));
    const text = Object.entries(fields).map(([name, value]) => `${name}=${shown(value)}`).join(" ");
    return { cells: [
        moment(time),
        html`<span class=${`chip ${TONES[level] ?? ""}`}>${level}</span>`,
        message,
        html`${text}${traceback && html`<details><summary>Traceback</summary>
            <pre class="code-text">${[traceback].flat().join("\n")}</pre></details>`}`,
    ] };
}

function Audit({ query }) {
    const { project, user, command, before } = query;
    const asked = { project, user, command, before, size: PAGE_SIZE };
    const page = useLoaded(() => api.admin("GET", "audit", { query: asked }), [JSON.stringify(asked)]);
    const options = [["", "All projects"], ...projects.value.map(({ slug, name }) => [slug, name])];
    return html`<div class="stack-sm">
        <div class="filters">
            <${Select} isSmall label="Project" value=${query.project ?? ""} options=${options}
                onPick=${(project) => setQuery({ project, before: "", page: "" })} />
            <${TextFilter} label="User" value=${query.user}
                onPick=${(user) => setQuery({ user, before: "", page: "" }, { replace: true })} />
            <${TextFilter} label="Command" value=${query.command}
                onPick=${(command) => setQuery({ command, before: "", page: "" }, { replace: true })} />
            <${Chain} />
        </div>
        <${Card} isFlush><${Loaded} from=${page} what="Loading the audit log">
            ${({ items, nextBefore }) => (items.length === 0
            ? html`<${Empty} icon="shield-check" title="No matching records"><p>Try fewer filters.</p></${Empty}>`
            : html`<${Table} label="The audit log" columns=${AUDIT_COLUMNS} isDense rows=${items.map((record) => ({
                key: record.seq,
                cells: [
                    moment(record.atUtc),
                    html`${record.user}${record.agentId && html`<div class="small text-soft">${record.agentId}</div>`}`,
                    record.command,
                    record.project,
                    changesOf(record),
                ],
            }))} />
            <${Pager} cursor=${query.before} page=${query.page} shown=${items.length} size=${PAGE_SIZE}
                next=${nextBefore === null ? null : String(nextBefore)} names=${["Newest", "Newer", "Older"]}
                go=${({ cursor, page: number }) => setQuery({ before: cursor, page: number })} />`)}
        </${Loaded}></${Card}>
    </div>`;
}

const SHOWN_CHANGES = 5;

function changesOf({ changes }) {
    const rest = changes.length - SHOWN_CHANGES;
    const shown = changes.slice(0, SHOWN_CHANGES).map(({ op, id }) => `${op} ${id}`).join(", ");
    return rest > 0 ? `${shown} and ${rest} more` : shown;
}

function Chain() {
    const [state, setState] = useState(null);
    const verify = async () => {
        try {
            setState(await api.admin("GET", "audit/verify"));
        } catch (error) {
            complain(error);
        }
    };
    return html`<button class="btn btn-quiet btn-sm" onClick=${verify}><${Icon} name="shield-check" />
        <span>Verify hash chain</span></button>
    <div role="status" class="flex-grow-1">${state && (state.intact
        ? html`<${Notice} tone="good" icon="check2">
            ${plural(state.records, "record")} verified: none was changed.</${Notice}>`
        : html`<${Notice} tone="bad" icon="exclamation-triangle">
            The hash chain is broken at line ${state.bad.line}, record ${state.bad.seq}: ${state.bad.reason}
        </${Notice}>`)}</div>`;
}
