// Problems: bad lines, conflicts and held deletions, with the decisions that need a person.

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

/** Problems that have their own section below. */
const ELSEWHERE = ["held", "conflict"];

export function Problems({ project: looked }) {
    const { project, line } = place.value.query;
    const found = useLoaded(() => look(project), [project]);
    const changed = () => {
        found.reload();
        countWaiting(looked);
    };
    const options = [["", "All projects"], ...projects.value.map(({ slug, name }) => [slug, name])];
    return html`<${PageHead} title="Problems" about="Nothing is lost: these items need your attention.">
        <div><${Select} label="Project" value=${project ?? ""} options=${options}
            onPick=${(slug) => setQuery({ project: slug, line: "" })} isSmall /></div>
        <button class="btn btn-quiet" onClick=${changed}><${Icon} name="arrow-clockwise" />
            <span>Refresh</span></button>
    </${PageHead}>
    <${Loaded} from=${found} what="Loading problems">
        ${({ held, conflicts, problems }) => (held.length + conflicts.length + problems.length === 0
        ? html`<${Card} isFlush><${Empty} icon="check2" title="No problems">
            <p>Every line of every file is valid.</p></${Empty}></${Card}>`
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
            ? "Deletion accepted: the entries are in the archive."
            : "Entries restored: the file was written again.");
        onChange();
    };
    const isAccept = decision === "accept";
    return html`<${Card} title=${`A large deletion in ${held.project} is on hold`}>
        <div class="stack-sm">
            <${Notice} tone="bad" icon="exclamation-triangle">${held.reason}</${Notice}>
            <p class="mb-0">Agents still see every entry, and the file is not changed until you decide.</p>
            ${mayIn(held.project, "admin") && html`<div class="actions">
                <button class="btn btn-primary" onClick=${() => setDecision("reject")}>Restore the entries</button>
                <button class="btn btn-danger-quiet" onClick=${() => setDecision("accept")}>Accept the deletion</button>
            </div>`}
        </div>
        ${decision && html`<${FormDialog} title=${isAccept ? "Accept the deletion?" : "Restore the entries?"}
            isDangerous=${isAccept}
            label=${isAccept ? "Accept" : "Restore"} submit=${decide} onClose=${() => setDecision(null)}>
            <p class="mb-0">${isAccept
                ? "Entries that are missing in the file move to the archive, where they can be restored."
                : "The server writes the missing entries to the file again. Other edits in it are kept."}</p>
        </${FormDialog}>`}
    </${Card}>`;
}

function Conflicts({ conflicts, onChange }) {
    return html`<${Card} title=${plural(conflicts.length, "conflict")} isFlush>
        <ul class="rows">${conflicts.map((item) => html`<${Conflict} key=${`${item.conflict.id} ${item.conflict.atUtc}`}
            item=${item} onChange=${onChange} />`)}</ul>
    </${Card}>`;
}

function Troubles({ problems }) {
    return html`<${Card} title=${plural(problems.length, "problem")} isFlush>
        <ul class="rows">${problems.map((problem) => html`<${Trouble} problem=${problem} />`)}</ul>
    </${Card}>`;
}

function Trouble({ problem }) {
    const { project, file, line, text } = problem;
    const fix = fixOf(problem);
    const isFixable = isLine(problem) && mayIn(project, "admin");
    return html`<li class="row-item">
        <${Icon} name="exclamation-triangle" />
        <div class="stack-sm">
            <div><strong>${titleOf(problem)}</strong>
                <div class="small text-soft">
                    ${[project, file, line && `line ${line}`].filter(Boolean).join(", ")}</div></div>
            <div>${reasonOf(problem)}</div>
            ${text && html`<pre class="code-text wraps" tabindex="0" aria-label=${`Line ${line}`}>${text}</pre>
            <p class="small text-soft mb-0">The line stays in the file unchanged until it is corrected, here or in the
                file.</p>`}
            ${isFixable && html`<div><a class="btn btn-quiet btn-sm" aria-label=${`Fix line ${line} of ${project}`}
                href=${hrefOf("problems", [], { project, line })}><${Icon} name="pencil" />
                    <span>Fix this line</span></a></div>`}
            ${fix.page !== "problems" && html`<div><a href=${fix.href}>${fix.label}</a></div>`}
        </div>
    </li>`;
}
