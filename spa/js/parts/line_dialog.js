// Corrects or removes a bad line of a file.

import * as api from "../api.js";
import { entrySchema } from "../entries.js";
import { faultsOf } from "../entry_schema.js";
import { parseJson, placeOf } from "../json_places.js";
import { useLoaded } from "../loading.js";
import { html, useState } from "../view.js";
import { CodeEditor } from "./code_editor.js";
import { FormDialog } from "./dialog.js";
import { Check } from "./pieces.js";
import { Loaded, Notice } from "./states.js";
import { say } from "./toasts.js";

export function LineDialog({ project, line, onClose, onDone }) {
    const loaded = useLoaded(async () => {
        const [found, schema] = await Promise.all([
            api.admin("GET", `problems/${api.pathOf(project, line)}`), entrySchema(),
        ]);
        return { ...found, schema };
    }, [project, line]);
    const [text, setText] = useState(null);
    const [isRemoved, setRemoved] = useState(false);
    const submit = async () => {
        const { version } = loaded.data;
        const body = { line: Number(line), ifVersion: version, text: isRemoved ? undefined : text };
        await api.admin("PUT", `problems/${api.pathOf(project)}`, { body });
        say(isRemoved
            ? "Line removed. Its text is kept in .qms/kept-lines.jsonl."
            : "Line saved as an entry.");
        onDone();
    };
    const isReady = loaded.data !== null && (isRemoved || (text !== null && !parseJson(text).fault));
    return html`<${FormDialog} title=${`Line ${line} of ${project}`} isWide isDangerous=${isRemoved} isReady=${isReady}
        label=${isRemoved ? "Remove line" : "Save line"} submit=${submit} onClose=${onClose}>
        <${Loaded} from=${loaded} what="Loading the line">${(found) => html`<div class="stack-sm">
            <${Notice} tone="warn" icon="exclamation-triangle">${found.reason}</${Notice}>
            ${!found.isWhole && html`<${Notice}>The line is too long to show, or part of it is not text.
                Saving replaces the whole line.</${Notice}>`}
            ${isRemoved
                ? html`<pre class="code-text wraps" tabindex="0" aria-label="The line">${found.text}</pre>`
                : html`<${CodeEditor} text=${text ?? found.text} language="json" label=${`Text of line ${line}`}
                    height="20rem" faults=${faultsIn(found.schema, text ?? found.text)} onInput=${setText} />`}
            <${Check} label="Remove the line instead" value=${isRemoved} onChange=${setRemoved} />
            <p class="small text-soft mb-0">The line is replaced in place. Its current text is kept in
                ${" "}<code>.qms/kept-lines.jsonl</code> of the store.</p>
        </div>`}</${Loaded}>
    </${FormDialog}>`;
}

function faultsIn(schema, text) {
    const { value, fault } = parseJson(text);
    return fault ? [fault] : faultsOf(schema, value).map(({ path, message }) => ({
        ...placeOf(text, path), message: `${path.join(".") || "the entry"} ${message}`,
    }));
}
