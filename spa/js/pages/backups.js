// Backups: the schedule, running jobs, the list of backups, and restore.

import * as api from "../api.js";
import { inWords } from "../cadence.js";
import { count, plural, size } from "../formatting.js";
import { isUnderWay } from "../jobs.js";
import { useEvery, useLoaded } from "../loading.js";
import { place, setQuery } from "../router.js";
import { projects } from "../session.js";
import { html, useState } from "../view.js";
import { Icon } from "../parts/icon.js";
import { Card, PageHead, Select, Time } from "../parts/pieces.js";
import { PruneDialog } from "../parts/prune_dialog.js";
import { MomentDialog, RestoreDialog } from "../parts/restore_dialog.js";
import { ScheduleDialog } from "../parts/schedule_dialog.js";
import { Empty, Loaded } from "../parts/states.js";
import { Table } from "../parts/table.js";
import { complain, say } from "../parts/toasts.js";

const FOLLOW_S = 1;
const COLUMNS = [
    "Project", "Created", "Mode", { name: "Entries", look: "number" }, { name: "Size", look: "number" },
    { name: "Actions", isHidden: true },
];

export function Backups() {
    const { project } = place.value.query;
    const loaded = useLoaded(() => api.admin("GET", "backups", { query: { project } }), [project]);
    const [dialog, setDialog] = useState(null);
    const jobs = (loaded.data?.jobs ?? []).filter((job) => job.state !== "done");
    useEvery(FOLLOW_S, () => jobs.some(isUnderWay) && loaded.reload());
    const options = [["", "All projects"], ...projects.value.map(({ slug, name }) => [slug, name])];
    const close = () => setDialog(null);
    return html`<${PageHead} title="Backups" about="Every backup is verified by reading it back.">
        <div><${Select} isSmall label="Project" value=${project ?? ""} options=${options}
            onPick=${(slug) => setQuery({ project: slug })} /></div>
        <${RunNow} project=${project} onOrdered=${loaded.reload} />
        <button class="btn btn-quiet" onClick=${() => setDialog({ goesBack: true })}>
            <${Icon} name="clock-history" /><span>Restore to a point in time</span></button>
        <button class="btn btn-quiet" onClick=${() => setDialog({ prunes: true })}>Prune</button>
    </${PageHead}>
    <${Loaded} from=${loaded} what="Loading backups">
        ${({ items, schedule, nextRunUtc, version }) => html`<div class="stack">
        <${Schedule} schedule=${schedule} nextRunUtc=${nextRunUtc}
            onEdit=${() => setDialog({ schedules: { schedule, version } })} />
        ${jobs.length > 0 && html`<${Jobs} jobs=${jobs} />`}
        <${Card} isFlush title=${items.length > 0 && plural(items.length, "backup")}>${items.length === 0
            ? html`<${Empty} icon="hdd-stack" title="No backups yet">
                <p>Run one now, or wait for the schedule.</p></${Empty}>`
            : html`<${List} items=${newestFirst(items)}
                onRestore=${(restores) => setDialog({ restores })} />`}</${Card}>
    </div>`}</${Loaded}>
    ${dialog?.restores && html`<${RestoreDialog} backup=${dialog.restores} onClose=${close} onDone=${loaded.reload} />`}
    ${dialog?.goesBack && html`<${MomentDialog} projects=${projects.value} project=${project} onClose=${close}
        onDone=${loaded.reload} />`}
    ${dialog?.schedules && html`<${ScheduleDialog} ...${dialog.schedules} onClose=${close} onDone=${loaded.reload} />`}
    ${dialog?.prunes && html`<${PruneDialog} project=${project} usual=${loaded.data?.schedule.keep} onClose=${close}
        onDone=${loaded.reload} />`}`;
}

/** Sort backups by time; the names of those that a restore made do not sort by time. */
function newestFirst(items) {
    return items.toSorted((one, other) => (other.createdUtc ?? "").localeCompare(one.createdUtc ?? ""));
}

function Schedule({ schedule, nextRunUtc, onEdit }) {
    const { cadence, timeZone, mode, keep } = schedule;
    const zone = timeZone === "local" ? "server time" : timeZone;
    return html`<${Card} title="Schedule" actions=${html`<button class="btn btn-quiet btn-sm" onClick=${onEdit}>
        <${Icon} name="pencil" /><span>Edit</span></button>`}>
        <dl class="facts">
            <dt>When</dt><dd>${inWords(cadence)}${cadence && `, ${zone}`}</dd>
            <dt>Next run</dt><dd>${nextRunUtc ? html`<${Time} utc=${nextRunUtc} />` : "none scheduled"}</dd>
            <dt>Mode</dt><dd>${mode}</dd>
            <dt>Retention</dt><dd>last ${plural(keep, "backup")} of each project</dd>
        </dl>
    </${Card}>`;
}

function RunNow({ project, onOrdered }) {
    const [mode, setMode] = useState("differential");
    const order = async () => {
        try {
            const { jobs, failures } = await api.admin("POST", "backups",
                { body: { project: project || undefined, mode } });
            const [failed] = Object.entries(failures);
            say(failed
                ? `${failed[0]} could not be backed up: ${failed[1]}`
                : `${plural(jobs.length, "backup")} started.`);
            onOrdered();
        } catch (error) {
            complain(error);
        }
    };
    return html`<div><${Select} isSmall label="Mode" value=${mode} onPick=${setMode}
        options=${[["differential", "Differential"], ["full", "Full"]]} /></div>
    <button class="btn btn-primary" onClick=${order}><${Icon} name="play" /><span>Run now</span></button>`;
}

function Jobs({ jobs }) {
    return html`<${Card} title="Running" isFlush><ul class="rows" role="status">
        ${jobs.map((job) => html`<li class="row-item" key=${job.id}>
        <${Icon} name=${job.state === "failed" ? "exclamation-triangle" : "clock-history"} />
        <div>${job.project}, ${job.mode} <div class="row-sub">
            ${job.reason ?? `${count(job.done)} of ${count(job.total)} lines`}</div>
            ${job.state === "running" && html`<progress class="w-100" max=${job.total || 1} value=${job.done}
                aria-label=${`Backup of ${job.project}`}></progress>`}</div>
        <span class=${`chip ${job.state === "failed" ? "bad" : "accent"}`}>${job.state}</span>
    </li>`)}</ul></${Card}>`;
}

function List({ items, onRestore }) {
    return html`<${Table} label="Backups" columns=${COLUMNS} rows=${items.map((backup) => ({
        key: `${backup.project} ${backup.id}`,
        cells: [
            backup.project,
            html`<${Time} utc=${backup.createdUtc} /> <code class="text-soft">${backup.id}</code>`,
            backup.problem
                ? html`<span class="chip bad">broken</span> <span class="small">${backup.problem}</span>`
                : html`<span class="chip">${backup.mode}</span>`,
            backup.entries === null ? "" : count(backup.entries),
            backup.bytes === null ? "" : size(backup.bytes),
            html`<div class="actions row-actions"><${Verify} backup=${backup} />
                <button class="btn btn-quiet btn-sm" onClick=${() => onRestore(backup)}>Restore</button></div>`,
        ],
    }))} />`;
}

function Verify({ backup }) {
    const [state, setState] = useState(null);
    const verify = async () => {
        setState({ isBusy: true });
        try {
            setState(await api.admin("POST", `backups/${api.pathOf(backup.project, backup.id)}/verify`, { body: {} }));
        } catch (error) {
            complain(error);
            setState(null);
        }
    };
    if (state && !state.isBusy) {
        return html`<span role="status" class=${`chip ${state.good ? "good" : "bad"}`} title=${state.problem ?? ""}>
            ${state.good ? "verified" : state.problem}</span>`;
    }
    return html`<button class="btn btn-quiet btn-sm" disabled=${state?.isBusy} onClick=${verify}>
        ${state?.isBusy ? "Verifying…" : "Verify"}</button>`;
}
