// A bad line of a file: its text, corrected where it stands, or taken out.

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
    const [isTakenOut, setTakenOut] = useState(false);
    const submit = async () => {
        const { version } = loaded.data;
        const body = { line: Number(line), ifVersion: version, text: isTakenOut ? undefined : text };
        await api.admin("PUT", `problems/${api.pathOf(project)}`, { body });
        say(isTakenOut
            ? "The line is out of the file. Its text is kept beside the store."
            : "The line is an entry now.");
        onDone();
    };
    const isReady = loaded.data !== null && (isTakenOut || (text !== null && !parseJson(text).fault));
    return html`<${FormDialog} title=${`Line ${line} of ${project}`} isWide isDangerous=${isTakenOut} isReady=${isReady}
        label=${isTakenOut ? "Take it out" : "Save the line"} submit=${submit} onClose=${onClose}>
        <${Loaded} from=${loaded} what="Loading the line">${(found) => html`<div class="stack-sm">
            <${Notice} tone="warn" icon="exclamation-triangle">${found.reason}</${Notice}>
            ${!found.isWhole && html`<${Notice}>Some of it is no text, or it is too long to be shown whole.
                What you save takes the place of all of it.</${Notice}>`}
            ${isTakenOut
                ? html`<pre class="code-text wraps" tabindex="0" aria-label="The line">${found.text}</pre>`
                : html`<${CodeEditor} text=${text ?? found.text} language="json" label=${`Text of line ${line}`}
                    height="20rem" faults=${faultsIn(found.schema, text ?? found.text)} onInput=${setText} />`}
            <${Check} label="Take the line out instead" value=${isTakenOut} onChange=${setTakenOut} />
            <p class="small text-soft mb-0">It is saved as one line, in its place. What stands there now is kept in
                ${" "}<code>.qms/kept-lines.jsonl</code> beside the store.</p>
        </div>`}</${Loaded}>
    </${FormDialog}>`;
}

function faultsIn(schema, text) {
    const { value, fault } = parseJson(text);
    return fault ? [fault] : faultsOf(schema, value).map(({ path, message }) => ({
        ...placeOf(text, path), message: `${path.join(".") || "the entry"} ${message}`,
    }));
}
