// Problems: what a person should look at in the files, and the decisions that only a person takes.

import * as api from "../api.js";
import { plural } from "../formatting.js";
import { useLoaded } from "../loading.js";
import { fixOf, isLine, reasonOf, titleOf } from "../problems.js";
import { hrefOf, place, setQuery } from "../router.js";
import { mayIn, projects } from "../session.js";
import { countWaiting } from "../waiting.js";
import { html, useState } from "../view.js";
import { Conflict } from "../parts/conflict.js";
import { FormDialog } from "../parts/dialog.js";
import { Icon } from "../parts/icon.js";
import { LineDialog } from "../parts/line_dialog.js";
import { Card, PageHead, Select } from "../parts/pieces.js";
import { Empty, Loaded, Notice } from "../parts/states.js";
import { say } from "../parts/toasts.js";

/** Problems that have a section of their own below. */
const ELSEWHERE = ["held", "conflict"];

export function Problems({ project: looked }) {
    const { project, line } = place.value.query;
    const found = useLoaded(() => look(project), [project]);
    const changed = () => {
        found.reload();
        countWaiting(looked);
    };
    const options = [["", "All projects"], ...projects.value.map(({ slug, name }) => [slug, name])];
    return html`<${PageHead} title="Problems" about="Nothing of this was lost: it waits for somebody to look at it.">
        <div><${Select} label="Project" value=${project ?? ""} options=${options}
            onPick=${(slug) => setQuery({ project: slug, line: "" })} isSmall /></div>
        <button class="btn btn-quiet" onClick=${changed}><${Icon} name="arrow-clockwise" />
            <span>Look again</span></button>
    </${PageHead}>
    <${Loaded} from=${found} what="Looking">
        ${({ held, conflicts, problems }) => (held.length + conflicts.length + problems.length === 0
        ? html`<${Card} isFlush><${Empty} icon="check2" title="Everything is in order">
            <p>Every line of every file could be read.</p></${Empty}></${Card}>`
        : html`<div class="stack">
            ${held.map((one) => html`<${Held} key=${one.project} held=${one} onChange=${changed} />`)}
            ${conflicts.length > 0 && html`<${Conflicts} conflicts=${conflicts} onChange=${changed} />`}
            ${problems.length > 0 && html`<${Troubles} problems=${problems} />`}
        </div>`)}
    </${Loaded}>
    ${project && line && html`<${LineDialog} key=${`${project} ${line}`} project=${project} line=${line}
        onClose=${() => setQuery({ line: "" }, { replace: true })} onDone=${changed} />`}`;
}

async function look(project) {
    const [problems, conflicts, held] = await Promise.all([
        api.admin("GET", "problems", { query: { project } }),
        api.admin("GET", "conflicts", { query: { project } }),
        api.admin("GET", "held"),
    ]);
    return {
        problems: problems.items.filter((one) => !ELSEWHERE.includes(one.code)),
        conflicts: conflicts.items,
        held: held.items.filter((one) => !project || one.project === project),
    };
}

function Held({ held, onChange }) {
    const [decision, setDecision] = useState(null);
    const decide = async () => {
        await api.admin("POST", `held/${api.pathOf(held.project)}`, { body: { decision } });
        say(decision === "accept"
            ? "The file counts; what it lacks is in the archive."
            : "The file is written again with everything in it.");
        onChange();
    };
    const isAccept = decision === "accept";
    return html`<${Card} title=${`A large deletion in ${held.project} waits for you`}>
        <div class="stack-sm">
            <${Notice} tone="bad" icon="exclamation-triangle">${held.reason}</${Notice}>
            <p class="mb-0">Agents still see every entry, and the file is not touched until you decide.</p>
            ${mayIn(held.project, "admin") && html`<div class="actions">
                <button class="btn btn-primary" onClick=${() => setDecision("reject")}>Bring the entries back</button>
                <button class="btn btn-danger-quiet" onClick=${() => setDecision("accept")}>Accept the deletion</button>
            </div>`}
        </div>
        ${decision && html`<${FormDialog} title=${isAccept ? "Accept the deletion?" : "Bring the entries back?"}
            isDangerous=${isAccept}
            label=${isAccept ? "Accept" : "Bring back"} submit=${decide} onClose=${() => setDecision(null)}>
            <p class="mb-0">${isAccept
                ? "What is missing in the file goes to the archive, from where it can be restored."
                : "The file is written again from what the server knows, with what was edited in it."}</p>
        </${FormDialog}>`}
    </${Card}>`;
}

function Conflicts({ conflicts, onChange }) {
    return html`<${Card} title=${plural(conflicts.length, "edit that met another one", "edits that met others")}
        isFlush>
        <ul class="rows">${conflicts.map((item) => html`<${Conflict} key=${`${item.conflict.id} ${item.conflict.atUtc}`}
            item=${item} onChange=${onChange} />`)}</ul>
    </${Card}>`;
}

function Troubles({ problems }) {
    return html`<${Card} title=${plural(problems.length, "thing to look at", "things to look at")} isFlush>
        <ul class="rows">${problems.map((problem) => html`<${Trouble} problem=${problem} />`)}</ul>
    </${Card}>`;
}

function Trouble({ problem }) {
    const { project, file, line, text } = problem;
    const fix = fixOf(problem);
    const isMended = isLine(problem) && mayIn(project, "admin");
    return html`<li class="row-item">
        <${Icon} name="exclamation-triangle" />
        <div class="stack-sm">
            <div><strong>${titleOf(problem)}</strong>
                <div class="small text-soft">
                    ${[project, file, line && `line ${line}`].filter(Boolean).join(", ")}</div></div>
            <div>${reasonOf(problem)}</div>
            ${text && html`<pre class="code-text wraps" tabindex="0" aria-label=${`Line ${line}`}>${text}</pre>
            <p class="small text-soft mb-0">The line stays in the file as it is until somebody corrects it, here or
                there.</p>`}
            ${isMended && html`<div><a class="btn btn-quiet btn-sm" aria-label=${`Fix line ${line} of ${project}`}
                href=${hrefOf("problems", [], { project, line })}><${Icon} name="pencil" />
                    <span>Fix this line</span></a></div>`}
            ${fix.page !== "problems" && html`<div><a href=${fix.href}>${fix.label}</a></div>`}
        </div>
    </li>`;
}
