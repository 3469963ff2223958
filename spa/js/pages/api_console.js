// API console: run a command of a project and see the request as a curl line.

import * as api from "../api.js";
import { commandsOf, compact, curlOf } from "../api_console.js";
import { parseJson } from "../json_places.js";
import { useLoaded } from "../loading.js";
import { place, setQuery } from "../router.js";
import { html, useEffect, useState } from "../view.js";
import { CodeEditor } from "../parts/code_editor.js";
import { Icon } from "../parts/icon.js";
import { Card, CopyButton, Field, PageHead, Select } from "../parts/pieces.js";
import { Loaded, Notice } from "../parts/states.js";

const FIRST = "searchEntries";
const LONGEST = 200_000;

export function ApiConsole({ project }) {
    const commands = useLoaded(async () => commandsOf(await api.publicDocument("/openapi.json")), []);
    return html`<${PageHead} title="API console"
        about=${html`Run a command in ${project} with your tier. Changes are real. All of them:
            <a href="/openapi.json">OpenAPI</a>.`} />
    <${Loaded} from=${commands} what="Loading the commands">${(found) => {
        const chosen = found.find(({ name }) => name === (place.value.query.command || FIRST)) ?? found[0];
        return html`<${Call} key=${`${project} ${chosen.name}`} project=${project} commands=${found}
            command=${chosen} />`;
    }}</${Loaded}>`;
}

function Call({ project, commands, command }) {
    const [text, setText] = useState(() => JSON.stringify(command.example, null, 2));
    const [answer, setAnswer] = useState(null);
    const { value, fault } = parseJson(text);
    useEffect(() => setAnswer(null), [text]);
    const run = async () => {
        setAnswer({ isRunning: true });
        const start = performance.now();
        const shown = (given, isGood) => setAnswer({ isGood, ms: Math.round(performance.now() - start), text: given });
        try {
            shown(textOf(await api.command(project, command.name, value)), true);
        } catch (error) {
            const { code, message, details, status } = error;
            shown(textOf({ status, error: { code, message, details } }), false);
        }
    };
    const curl = curlOf({ origin: location.origin, project, name: command.name, text: compact(text) });
    return html`<div class="beside">
        <${Card} title="Request"><div class="stack-sm">
            <${Field} label="Command" hint=${`${command.summary}. ${command.needs}`}>
                ${(field) => html`<${Select} ...${field} label=${undefined} value=${command.name}
                options=${commands.map(({ name, toolset }) => [name, `${name} (${toolset})`])}
                onPick=${(name) => setQuery({ command: name })} />`}</${Field}>
            <${CodeEditor} text=${text} language="json" label="The request as JSON" faults=${fault ? [fault] : []}
                onInput=${setText} height="20rem" />
            <div class="actions"><button class="btn btn-primary" disabled=${Boolean(fault) || answer?.isRunning}
                onClick=${run}><${Icon} name="play" /><span>Run</span></button>
                <span class="small text-soft" role="status">${fault ? "Invalid JSON." : stateOf(answer)}</span></div>
            <div><p class="form-label">As curl, with your key in <code>QMS_KEY</code></p>
                <pre class="code-text wraps" tabindex="0" aria-label="The curl line">${curl}</pre></div>
            <div><${CopyButton} text=${curl} label="Copy curl" /></div>
        </div></${Card}>
        <${Card} title="Answer">${answer?.text
            ? html`<div class="stack-sm">
                ${!answer.isGood && html`<${Notice} tone="bad" icon="exclamation-triangle">
                    The server refused the request.</${Notice}>`}
                <pre class="code-text wraps tall" tabindex="0" aria-label="The answer">${answer.text}</pre>
                <div><${CopyButton} text=${answer.text} label="Copy answer" /></div></div>`
            : html`<p class="text-soft mb-0">Run the command to see its answer.</p>`}</${Card}>
    </div>`;
}

function stateOf(answer) {
    if (!answer) {
        return "";
    }
    return answer.isRunning ? "Running…" : `${answer.isGood ? "Done" : "Refused"} in ${answer.ms} ms.`;
}

function textOf(value) {
    const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
    return text.length > LONGEST ? `${text.slice(0, LONGEST)}\n… cut: the answer has ${text.length} characters` : text;
}
