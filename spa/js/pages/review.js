// Review: approve, edit or reject provisional entries, one at a time, with keyboard shortcuts.

import * as api from "../api.js";
import { getEntry, patchEntry, removeEntry, shortened } from "../entries.js";
import { useKeys } from "../keys.js";
import { useLoaded } from "../loading.js";
import { hrefOf, place, setQuery } from "../router.js";
import { count } from "../formatting.js";
import { countWaiting, waiting as counted } from "../waiting.js";
import { html, useEffect, useState } from "../view.js";
import { EntryBody } from "../parts/entry_body.js";
import { EntryEditor } from "../parts/entry_editor.js";
import { FlagChip } from "../parts/entry_list.js";
import { Icon } from "../parts/icon.js";
import { Card, Kind, PageHead, Time } from "../parts/pieces.js";
import { Empty, Loaded, Loading } from "../parts/states.js";
import { complain, say } from "../parts/toasts.js";

const AT_ONCE = 50;

export function Review({ project }) {
    return html`<${PageHead} title="Review"
        about="Provisional entries that need a review, oldest first." />
    <${Queue} key=${project} project=${project} />`;
}

function Queue({ project }) {
    const [cursor, setCursor] = useState(undefined);
    const queue = useLoaded(() => api.command(project, "listEntries", {
        filter: { tiers: ["provisional"] }, sort: "created", page: { size: AT_ONCE, cursor },
    }), [cursor]);
    const judged = () => {
        queue.reload();
        countWaiting(project);
    };
    const [skipped, setSkipped] = useState(new Set());
    const skip = (id) => setSkipped((before) => new Set(before).add(id));
    const again = () => {
        setSkipped(new Set());
        setCursor(undefined);
        queue.reload();
    };
    const waiting = (queue.data?.items ?? []).filter(({ id }) => !skipped.has(id));
    const next = queue.data?.nextCursor;
    const isThrough = !queue.isLoading && waiting.length === 0;
    useEffect(() => {
        if (isThrough && next) {
            setCursor(next);
        }
    }, [isThrough, next]);
    return html`<${Loaded} from=${queue} what="Loading the queue">${() => {
        if (waiting.length === 0) {
            return next ? html`<${Loading} what="Loading the queue" />`
                : html`<${Done} skipped=${skipped.size} again=${again} />`;
        }
        const [{ id }] = waiting;
        const total = counted.value.review ?? 0;
        return html`<${Candidate} key=${id} project=${project} id=${id} onDone=${judged} onSkip=${() => skip(id)}
            left=${`${count(next ? Math.max(waiting.length, total - skipped.size) : waiting.length)} to review`} />`;
    }}</${Loaded}>`;
}

function Done({ skipped, again }) {
    return html`<${Card} isFlush><${Empty} icon="check2"
        title=${skipped ? "End of the queue" : "Nothing to review"}>
        <p>${skipped
            ? `You skipped ${skipped}.`
            : "New entries of agents appear here until they are approved."}</p>
        <button class="btn btn-quiet" onClick=${again}>${skipped ? "Start over" : "Refresh"}</button>
    </${Empty}></${Card}>`;
}

function Candidate({ project, id, left, onDone, onSkip }) {
    const loaded = useLoaded(() => getEntry(project, id), [id]);
    // The editor stays until the new version is loaded: a quick key press would act on the old one.
    const saved = () => loaded.reload().then(() => setQuery({ edit: "" }, { replace: true }));
    return html`<${Loaded} from=${loaded} what="Loading the entry">
        ${({ entry, version, flags = [] }) => html`<${Card} isFlush>
            ${place.value.query.edit === "yes"
                ? html`<${EntryEditor} project=${project} entry=${entry} version=${version}
                    onSaved=${saved}
                    onCancel=${() => setQuery({ edit: "" }, { replace: true })} />`
                : html`<${Judgement} entry=${entry} version=${version} flags=${flags} left=${left}
                    project=${project} onDone=${onDone} onSkip=${onSkip} reload=${loaded.reload} />`}
        </${Card}>`}
    </${Loaded}>`;
}

function Judgement({ entry, version, flags, left, project, onDone, onSkip, reload }) {
    const [isBusy, setBusy] = useState(false);
    const act = async (action) => {
        if (isBusy) {
            return;
        }
        setBusy(true);
        try {
            await action();
        } catch (error) {
            complain(error);
            reload();
        }
        setBusy(false);
    };
    const approve = () => act(async () => {
        const changed = await patchEntry(entry.id, { curationTier: "curated" }, version);
        const undo = () => patchEntry(entry.id, { curationTier: "provisional" }, changed.version)
            .then(onDone, complain);
        say(`Approved “${shortened(entry.title)}”.`, { label: "Undo", id: entry.id, run: undo });
        onDone();
    });
    const reject = () => act(() => removeEntry(entry, { version, onChange: onDone }));
    const edit = () => setQuery({ edit: "yes" }, { replace: true });
    useKeys("Review", {
        a: { does: "Approve: mark as curated", run: approve },
        e: { does: "Edit", run: edit },
        r: { does: "Reject: move to the archive", run: reject },
        s: { does: "Skip for now", run: onSkip },
    });
    return html`<div>
        <div class="card-head">
            <button class="btn btn-primary btn-sm" disabled=${isBusy} onClick=${approve}><${Icon} name="check2" />
                <span>Approve</span> <kbd aria-hidden="true">a</kbd></button>
            <button class="btn btn-quiet btn-sm" onClick=${edit}><${Icon} name="pencil" />
                <span>Edit</span> <kbd aria-hidden="true">e</kbd></button>
            <button class="btn btn-danger-quiet btn-sm" disabled=${isBusy} onClick=${reject}><${Icon} name="trash3" />
                <span>Reject</span> <kbd aria-hidden="true">r</kbd></button>
            <button class="btn btn-bare btn-sm" onClick=${onSkip}>Skip <kbd aria-hidden="true">s</kbd></button>
            <span class="ms-auto text-soft small" role="status">${left}</span>
        </div>
        <div class="card-in">
            <h2 class="panel-title">${entry.title}</h2>
            <div class="actions mb-3">
                <${Kind} kind=${entry.kind} />
                ${(entry.tags ?? []).map((tag) => html`<span class="chip" key=${tag}>${tag}</span>`)}
                ${flags.map((flag) => html`<${FlagChip} key=${flag} flag=${flag} />`)}
            </div>
            <${EntryBody} entry=${entry} />
            <p class="small text-soft mt-3 mb-0">
                Written by ${entry.agentId ?? "an unknown author"} <${Time} utc=${entry.timestamps.createdUtc} />.
                ${" "}<a href=${hrefOf("entries", [project], { id: entry.id })}>Open in Entries</a>
            </p>
        </div>
    </div>`;
}
