// Edits an entry as a form or as JSON; both edit the same draft.

import * as api from "../api.js";
import { entrySchema, getEntry } from "../entries.js";
import { faultsOf, limitInWords, pathOfField } from "../entry_schema.js";
import { parseJson, placeOf } from "../json_places.js";
import { diffLines } from "../line_diff.js";
import { useLoaded } from "../loading.js";
import { useKept, useUnsaved } from "../unsaved.js";
import { html, useEffect, useRef, useState } from "../view.js";
import { CodeEditor } from "./code_editor.js";
import { Diff } from "./diff.js";
import { EntryForm } from "./entry_form.js";
import { Icon } from "./icon.js";
import { Loaded, Notice } from "./states.js";
import { endOffers, say } from "./toasts.js";

const pretty = (value) => JSON.stringify(value, null, 2);

/** Edit `entry`; without a `version` it is new. */
export function EntryEditor({ project, entry, version, onSaved, onCancel }) {
    const schema = useLoaded(entrySchema, []);
    return html`<${Loaded} from=${schema} what="Loading the form">
        ${(found) => html`<${Editor} schema=${found} project=${project} entry=${entry} version=${version}
            onSaved=${onSaved} onCancel=${onCancel} />`}
    </${Loaded}>`;
}

function Editor({ schema, project, entry, version, onSaved, onCancel }) {
    const name = `${project} ${entry.id ?? "new"}`;
    const kept = useKept(name);
    const [draft, setDraft] = useState(kept?.draft ?? entry);
    const [text, setText] = useState(kept?.text ?? null);
    const [faults, setFaults] = useState([]);
    const [refusal, setRefusal] = useState(null);
    const [seen, setSeen] = useState(kept?.seen ?? version);
    const [isBusy, setBusy] = useState(false);
    const isJson = text !== null;
    const parsed = isJson ? parseJson(text) : { value: draft };
    const release = useUnsaved((text ?? pretty(draft)) !== pretty(entry), name, { draft, text, seen });

    const form = useRef(null);
    useEffect(() => showFirstFault(form.current), [faults]);

    const change = (next) => {
        setDraft(next);
        setFaults([]);
    };
    const toForm = () => {
        if (parsed.value) {
            setDraft(parsed.value);
            setText(null);
        }
    };
    const save = async (event, ifVersion = seen) => {
        event?.preventDefault();
        const found = parsed.fault ? [] : faultsOf(schema, cleaned(parsed.value));
        setFaults(found);
        setRefusal(null);
        if (parsed.fault || found.length) {
            return;
        }
        setBusy(true);
        try {
            const answer = await api.command(project, "upsertEntry", { entry: cleaned(parsed.value), ifVersion });
            endOffers(answer.id);
            sayResult(answer);
            release();
            onSaved(answer.id);
        } catch (error) {
            const field = error.details.field && pathOfField(error.details.field);
            const theirs = error.code === "conflict" && entry.id
                ? await getEntry(project, entry.id).catch(() => null)
                : null;
            setRefusal({ error, theirs });
            setFaults(field ? [{ path: field, message: limitInWords(error) }] : []);
        }
        setBusy(false);
    };
    const cancel = () => {
        release();
        onCancel();
    };
    const takeTheirs = () => {
        setDraft(refusal.theirs.entry);
        setText(isJson ? pretty(refusal.theirs.entry) : null);
        setSeen(refusal.theirs.version);
        setRefusal(null);
    };
    const keepMine = () => {
        setSeen(refusal.theirs.version);
        save(null, refusal.theirs.version);
    };

    // Save is where Edit will be: a second click must not meet Delete.
    return html`<form ref=${form} onSubmit=${save} noValidate>
        <div class="panel-head">
            <div class="actions">
                <button class="btn btn-primary btn-sm" disabled=${isBusy}>${isBusy ? "Saving…" : "Save"}</button>
                <button class="btn btn-quiet btn-sm" type="button" onClick=${cancel}>Cancel</button>
                <h2 class="mx-auto">${version ? "Edit entry" : "New entry"}</h2>
            </div>
            <button class="btn btn-quiet btn-sm" type="button" disabled=${isJson && !parsed.value}
                onClick=${() => (isJson ? toForm() : setText(pretty(draft)))}>
                <${Icon} name=${isJson ? "list" : "braces"} /><span>${isJson ? "Form" : "JSON"}</span>
            </button>
        </div>
        <div class="card-in stack-sm">
            ${kept && html`<${Notice}>Your input from before the session ended. It is not saved yet.</${Notice}>`}
            ${refusal && html`<${Refusal} refusal=${refusal} mine=${parsed.value} takeTheirs=${takeTheirs}
                keepMine=${keepMine} />`}
            ${isJson
                ? html`<${JsonDraft} text=${text} parsed=${parsed} faults=${faults} onInput=${setText} />`
                : html`<${EntryForm} schema=${schema} project=${project} draft=${draft} isNew=${!version}
                    faults=${faults} onChange=${change} />`}
        </div>
    </form>`;
}

function JsonDraft({ text, parsed, faults, onInput }) {
    const shown = parsed.fault ? [parsed.fault] : faults.map(({ path, message }) => ({
        ...placeOf(text, path), message: `${path.join(".")} ${message}`,
    }));
    return html`<div class="stack-sm">
        <${CodeEditor} text=${text} language="json" label="The entry as JSON" faults=${shown} onInput=${onInput}
            height="32rem" />
        ${shown.length > 0 && html`<${Notice} tone="bad" icon="exclamation-triangle">
            <ul class="mb-0 ps-3">
                ${shown.map(({ from, message }) => html`<li>Line ${lineAt(text, from)}: ${message}</li>`)}</ul>
        </${Notice}>`}
    </div>`;
}

/** Scroll to the first field with a fault and focus it; the head of the panel must not cover it. */
function showFirstFault(form) {
    const field = form.querySelector("[aria-invalid]");
    field?.focus({ preventScroll: true });
    field?.scrollIntoView({ block: "center" });
}

function lineAt(text, position) {
    return text.slice(0, position).split("\n").length;
}

function Refusal({ refusal: { error, theirs }, mine, takeTheirs, keepMine }) {
    if (!theirs) {
        return html`<${Notice} tone="bad" icon="exclamation-triangle">
            Not saved. ${error.details.field ? limitInWords(error) : error.message}</${Notice}>`;
    }
    return html`<${Notice} tone="warn" icon="exclamation-triangle">
        <strong>This entry was changed while you were editing.</strong>
        <p class="mb-2">Nothing was overwritten, and your input is still here. The difference between the stored version
            and yours:</p>
        <${Diff} label="How your version differs" lines=${diffLines(pretty(theirs.entry), pretty(mine))} />
        <div class="actions mt-2">
            <button type="button" class="btn btn-quiet btn-sm" onClick=${takeTheirs}>Use the stored version</button>
            <button type="button" class="btn btn-danger-quiet btn-sm" onClick=${keepMine}>Overwrite with mine</button>
        </div>
    </${Notice}>`;
}

/** Return the draft without empty fields. */
function cleaned(draft) {
    if (typeof draft !== "object" || draft === null) {
        return draft;
    }
    const kept = Object.entries(draft).filter(([, value]) => value !== "" && value !== undefined);
    const { body, ...rest } = Object.fromEntries(kept);
    const isPlain = typeof body !== "object" || body === null;
    return { ...rest, body: isPlain
        ? body
        : Object.fromEntries(Object.entries(body).filter(([, value]) => value !== "" && value !== null)) };
}

function sayResult({ created, updated, duplicateOf, similar = [], warnings = [] }) {
    const [first] = similar;
    if (duplicateOf) {
        say("An identical entry already exists: nothing was added.");
    } else if (warnings.length) {
        say(`Saved. ${warnings.join(" ")}`);
    } else if (created && first) {
        say(`Saved. It is similar to “${first.title}”.`);
    } else {
        say(created || updated ? "Saved." : "No changes.");
    }
}
