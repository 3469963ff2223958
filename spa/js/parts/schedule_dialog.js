// Edits the backup schedule: cron expression, mode and retention.

import * as api from "../api.js";
import { CADENCES } from "../cadence.js";
import { html, useState } from "../view.js";
import { FormDialog } from "./dialog.js";
import { Field, Select } from "./pieces.js";
import { say } from "./toasts.js";

const OTHER = "other";
const MODES = [["differential", "Differential: what changed"], ["full", "Full: everything"]];

export function ScheduleDialog({ schedule, version, onClose, onDone }) {
    const [wanted, setWanted] = useState(schedule);
    const isUsual = CADENCES.some(([cron]) => cron === schedule.cadence);
    const [isOther, setOther] = useState(!isUsual);
    const set = (change) => setWanted({ ...wanted, ...change });
    const pick = (cadence) => {
        setOther(cadence === OTHER);
        set(cadence === OTHER ? {} : { cadence });
    };
    const submit = async () => {
        await api.admin("PUT", "backups/schedule", { body: { ...wanted, ifVersion: version } });
        say("Schedule saved.");
        onDone();
    };
    const text = (name, label, hint) => html`<${Field} label=${label} hint=${hint}>${(field) => html`<input ...${field}
        class="form-control mono" value=${wanted[name]}
            onInput=${(event) => set({ [name]: event.target.value })} />`}</${Field}>`;
    return html`<${FormDialog} title="Backup schedule" label="Save" submit=${submit} onClose=${onClose}>
        <${Field} label="When">${(field) => html`<${Select} ...${field} label=${undefined}
            value=${isOther ? OTHER : wanted.cadence} options=${[...CADENCES, [OTHER, "Custom cron expression"]]}
            onPick=${pick} />`}</${Field}>
        ${isOther && text("cadence", "Cron expression", "Minute, hour, day of month, month, day of week.")}
        ${text("timeZone", "Time zone", "local, or a name such as Europe/Berlin.")}
        <${Field} label="Mode">${(field) => html`<${Select} ...${field} label=${undefined} value=${wanted.mode}
            options=${MODES} onPick=${(mode) => set({ mode })} />`}</${Field}>
        <${Field} label="Backups to keep" hint="Per project; backups that these need are kept too.">${(field) => html`
            <input ...${field} class="form-control" type="number" min="1" max="10000" value=${wanted.keep}
                onInput=${(event) => set({ keep: Number(event.target.value) })} />`}</${Field}>
    </${FormDialog}>`;
}
