// Configuration: edit the TOML file or a form over it, validated while typing, with a diff before saving.

import * as api from "../api.js";
import { parseUnified } from "../line_diff.js";
import { useLoaded } from "../loading.js";
import { reasonOf } from "../problems.js";
import { refresh } from "../session.js";
import { useKept, useUnsaved } from "../unsaved.js";
import { html, useEffect, useRef, useState } from "../view.js";
import { CodeEditor } from "../parts/code_editor.js";
import { Diff } from "../parts/diff.js";
import { FormDialog } from "../parts/dialog.js";
import { Card, PageHead } from "../parts/pieces.js";
import { SettingsForm } from "../parts/settings_form.js";
import { Loaded, Notice } from "../parts/states.js";
import { say } from "../parts/toasts.js";

const TYPING_MS = 400;
const DRAFT = "configuration";
const ABOUT = "QuickMemoryServer.toml, with secrets masked. Saved changes apply at once. "
    + "Settings that reach outside the root ([llm], [chat], [oauth], [storage], documentRoots, absolute "
    + "paths, names of environment variables) can only be changed in the file on the server.";

export function Configuration() {
    const loaded = useLoaded(() => api.admin("GET", "config"), []);
    return html`<${PageHead} title="Configuration"
        about=${ABOUT} />
    <${Loaded} from=${loaded} what="Loading the configuration">
        ${(config) => html`<${Editor} key=${config.version} config=${config} onSaved=${loaded.reload} />`}
    </${Loaded}>`;
}

function Editor({ config, onSaved }) {
    const kept = useKept(DRAFT);
    const [text, setText] = useState(kept?.text ?? config.text);
    const [version, setVersion] = useState(kept?.version ?? config.version);
    const [check, setCheck] = useState(null);
    const [isComparing, setComparing] = useState(false);
    useCheck(text, text !== config.text, setCheck);
    const isChanged = text !== config.text;
    useUnsaved(isChanged, DRAFT, { text, version });
    const error = isChanged ? check?.error : config.error;
    const warnings = isChanged ? check?.warnings ?? [] : config.warnings;
    const discard = () => {
        setText(config.text);
        setVersion(config.version);
    };
    const save = async () => {
        await api.admin("PUT", "config", { body: { text, ifVersion: version } });
        say("Saved and applied.");
        await refresh();
        onSaved();
    };
    return html`<div class="stack-sm">
        ${kept && isChanged && html`<${Notice}>Your input from before the session ended. It is not saved yet.
        </${Notice}>`}
        ${error && html`<${Notice} tone="bad" icon="exclamation-triangle">
            ${isChanged ? "" : "The file is invalid and not applied: "}${at(error)}${reasonOf(error)}</${Notice}>`}
        ${warnings.map((one) => html`<${Notice} tone="warn" icon="exclamation-triangle">
            ${at(one)}${one.field}: ${reasonOf(one)}</${Notice}>`)}
        <div class="beside settings">
            <${SettingsForm} text=${text} error=${error} onInput=${setText} />
            <${Card} title="The file"><${CodeEditor} text=${text} language="toml" label="The configuration"
                height="60vh" faults=${faultsOf(text, error)} onInput=${setText} /></${Card}>
        </div>
        <div class="actions">
            <button class="btn btn-primary" disabled=${!isChanged || !check?.valid}
                onClick=${() => setComparing(true)}>Review and save</button>
            <button class="btn btn-quiet" disabled=${!isChanged} onClick=${discard}>Discard</button>
            <span class="text-soft small" role="status">${stateOf(isChanged, check)}</span>
        </div>
        ${isComparing && html`<${FormDialog} title="Save these changes?" label="Save" isWide submit=${save}
            onClose=${() => setComparing(false)}>
            <${Diff} label="What changes" lines=${parseUnified(check.diff)} />
        </${FormDialog}>`}
    </div>`;
}

/** Validate the text on the server, shortly after the last key press. */
function useCheck(text, isChanged, setCheck) {
    const latest = useRef(0);
    useEffect(() => {
        const turn = ++latest.current;
        setCheck(null);
        const timer = isChanged && setTimeout(async () => {
            const found = await api.admin("POST", "config/validate", { body: { text } })
                .catch((error) => ({ valid: false, error: { reason: error.message }, warnings: [] }));
            if (turn === latest.current) {
                setCheck(found);
            }
        }, TYPING_MS);
        return () => {
            clearTimeout(timer);
            latest.current += 1;
        };
    }, [text]);
}

function stateOf(isChanged, check) {
    if (!isChanged) {
        return "No changes.";
    }
    return check === null ? "Validating…" : check.valid ? "Valid." : "Not valid yet.";
}

function at({ line }) {
    return line ? `Line ${line}: ` : "";
}

function faultsOf(text, error) {
    if (!error?.line) {
        return [];
    }
    const lines = text.split("\n");
    const from = lines.slice(0, error.line - 1).reduce((sum, line) => sum + line.length + 1, 0);
    return [{ from, to: from + (lines[error.line - 1]?.length ?? 0), message: reasonOf(error) }];
}
