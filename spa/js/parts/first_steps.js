// The first steps on a new server: they lead the overview and tick themselves off.

import * as api from "../api.js";
import { areNeeded, stepsOf } from "../first_steps.js";
import { useEvery, useLoaded } from "../loading.js";
import { hrefOf } from "../router.js";
import { isAdmin, mayIn, session } from "../session.js";
import { html, useState } from "../view.js";
import { Icon } from "./icon.js";
import { Card } from "./pieces.js";

const HIDDEN = "qms-first-steps";
const REFRESH_S = 5;
const WORDS = {
    connect: {
        title: "Connect an agent", action: "Connect", icon: "plug",
        about: "Choose your client: it gets a key of its own with tier writer, and the line to paste.",
        hrefFor: (project) => hrefOf("projects", [], { connect: project }),
    },
    write: {
        title: "Write a first memory", action: "New entry", icon: "pencil",
        about: "Something that every agent should know, such as how to run the tests.",
        hrefFor: (project) => hrefOf("entries", [project], { new: "note" }),
    },
    import: {
        title: "Import what you have", action: "Import", icon: "upload",
        about: "Notes, chats and memories of other tools, as Markdown, JSON or CSV.",
        hrefFor: (project) => hrefOf("transfer", [project]),
    },
};

export function FirstSteps({ project, stores }) {
    const [isHidden, setHidden] = useState(read);
    const traces = useLoaded(() => (isAdmin.value && !isHidden ? findTraces() : {}), [isHidden]);
    useEvery(REFRESH_S, () => isAdmin.value && !isHidden && traces.reload());
    const steps = stepsOf({ user: session.value.user, stores, ...traces.data });
    if (isHidden || !traces.data || !mayIn(project, "writer") || !areNeeded(stores, steps)) {
        return null;
    }
    const hide = () => {
        setHidden(true);
        write();
    };
    const left = steps.filter(({ isDone }) => !isDone);
    return html`<${Card} title="Get started" isFlush actions=${html`<button class="btn btn-bare btn-sm"
        onClick=${hide}>Hide</button>`}>
        <ol class="rows" aria-label="First steps">
            ${steps.map(({ name, isDone }) => html`<${Step} key=${name} words=${WORDS[name]} isDone=${isDone}
                isNext=${left[0]?.name === name} project=${project} />`)}
        </ol>
    </${Card}>`;
}

function Step({ words, isDone, isNext, project }) {
    return html`<li class="row-item step">
        <span class=${`step-mark ${isDone ? "done" : ""}`}><${Icon} name=${isDone ? "check2" : words.icon} /></span>
        <div>
            <strong>${words.title}</strong>${isDone && html` <span class="chip good">done</span>`}
            <div class="row-sub">${words.about}</div>
        </div>
        <a class=${`btn btn-sm ${isNext ? "btn-primary" : "btn-quiet"}`} href=${words.hrefFor(project)}>
            ${words.action}</a>
    </li>`;
}

/** Return the keys, and the number of imports, as far as one is known. */
async function findTraces() {
    const [keys, audit] = await Promise.all([
        api.admin("GET", "keys"), api.admin("GET", "audit", { query: { command: "bulkImport", size: 1 } }),
    ]);
    return { keys: keys.items, imports: audit.items.length };
}

function read() {
    try {
        return localStorage.getItem(HIDDEN) !== null;
    } catch {
        return false;
    }
}

function write() {
    try {
        localStorage.setItem(HIDDEN, "hidden");
    } catch {
        // Storage is disabled: they are hidden until the page is left.
    }
}
