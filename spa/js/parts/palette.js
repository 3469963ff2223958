// The command palette: pages, projects, entries and actions by name, with the keyboard alone.

import * as api from "../api.js";
import { useLoaded } from "../loading.js";
import { hrefOfPage, pagesFor } from "../pages.js";
import { grouped, rank } from "../palette.js";
import { go, hrefOf, wanted } from "../router.js";
import { isAdmin, mayIn, projects, signOut } from "../session.js";
import { choose, isDark } from "../theme.js";
import { hasUnsaved } from "../unsaved.js";
import { html, useEffect, useId, useRef, useState } from "../view.js";
import { Icon, kindIcon } from "./icon.js";

const FEWEST_LETTERS = 2;
const TYPING_MS = 150;
const FOUND = 6;

export function Palette({ page, project, onHelp, onClose }) {
    const box = useRef(null);
    const list = useId();
    const [text, setText] = useState("");
    const [at, setAt] = useState(0);
    const entries = useFound(project, text.trim());
    const choices = [...rank(choicesOf(page, project, onHelp), text), ...entries];
    const chosen = Math.min(at, choices.length - 1);
    useEffect(() => {
        const before = document.activeElement;
        box.current.showModal();
        return () => before?.focus?.();
    }, []);
    useEffect(() => box.current.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }), [chosen]);
    const run = (choice) => {
        box.current.close();
        choice.run();
    };
    const onKeyDown = (event) => {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (step && choices.length > 0) {
            event.preventDefault();
            setAt((chosen + step + choices.length) % choices.length);
        } else if (event.key === "Enter" && choices[chosen]) {
            event.preventDefault();
            run(choices[chosen]);
        }
    };
    return html`<dialog class="box palette" ref=${box} aria-label="Go to or run" onClose=${onClose}
        onClick=${(event) => event.target === box.current && box.current.close()}>
        <div class="search-box"><${Icon} name="search" />
            <input class="form-control" role="combobox" aria-label="Go to or run" aria-expanded="true"
                aria-controls=${list} aria-autocomplete="list" autocomplete="off" spellcheck=${false} autofocus
                aria-activedescendant=${chosen >= 0 ? `${list}-${chosen}` : undefined}
                placeholder="Go to a page, project or entry, or run an action" value=${text} onKeyDown=${onKeyDown}
                onInput=${(event) => { setText(event.target.value); setAt(0); }} /></div>
        <div class="palette-list" id=${list} role="listbox" aria-label="Choices" tabindex="-1">
            ${grouped(choices).map(([group, some]) => html`<div role="group" aria-label=${group} key=${group}>
                <div class="menu-label" aria-hidden="true">${group}</div>
                ${some.map((choice) => html`<${Choice} key=${choice.key} choice=${choice}
                    id=${`${list}-${choices.indexOf(choice)}`} isChosen=${choices.indexOf(choice) === chosen}
                    onPick=${() => run(choice)} />`)}
            </div>`)}
        </div>
        ${choices.length === 0 && html`<p class="card-in text-soft mb-0" role="status">Nothing found.</p>`}
    </dialog>`;
}

function Choice({ choice, id, isChosen, onPick }) {
    return html`<div role="option" id=${id} class="menu-item" aria-selected=${isChosen} onClick=${onPick}>
        <${Icon} name=${choice.icon} /><span class="palette-title">${choice.title}</span>
        ${choice.hint && html`<span class="small text-soft">${choice.hint}</span>`}
    </div>`;
}

/** Search the project's entries, shortly after the last key press. */
function useFound(project, text) {
    const [asked, setAsked] = useState("");
    useEffect(() => {
        const timer = setTimeout(() => setAsked(text), TYPING_MS);
        return () => clearTimeout(timer);
    }, [text]);
    const found = useLoaded(async () => {
        if (!project || asked.length < FEWEST_LETTERS) {
            return [];
        }
        const query = { text: asked, maxResults: FOUND };
        return (await api.command(project, "searchEntries", { query })).results.map(({ entry }) => entry);
    }, [project, asked]);
    return (text ? found.data ?? [] : []).map((entry) => ({
        key: entry.id, group: "Entries", icon: kindIcon(entry.kind), title: entry.title,
        run: () => go("entries", [project], { id: entry.id }),
    }));
}

function choicesOf(page, project, onHelp) {
    const pages = pagesFor({ isAdmin: isAdmin.value, may: (least) => mayIn(project, least) });
    const isOfProject = pages.some((one) => one.name === page && one.least);
    return [
        ...pages.map((one) => ({
            key: one.name, group: "Pages", icon: one.icon, title: one.title,
            run: () => follow(hrefOfPage(one, project)),
        })),
        ...actionsOf(project, onHelp),
        ...projects.value.map(({ slug, name }) => ({
            key: `project ${slug}`, group: "Projects", icon: "folder2-open", title: name,
            hint: name === slug ? "" : slug, run: () => go(isOfProject ? page : "entries", [slug]),
        })),
    ];
}

function actionsOf(project, onHelp) {
    const action = (icon, title, run, isOffered = true) => isOffered
        && { key: `run ${title}`, group: "Actions", icon, title, run };
    return [
        action("plus-lg", "New entry", () => go("entries", [project], { new: "note" }), mayIn(project, "writer")),
        action("plug", "Connect an agent", () => go("projects", [], { connect: project }), Boolean(project)),
        action("upload", "Import memories", () => go("transfer", [project]), mayIn(project, "writer")),
        action("plus-lg", "New project", () => go("projects", [], { new: "yes" }), isAdmin.value),
        action("key", "New user", () => go("users", [], { new: "yes" }), isAdmin.value),
        action(isDark.value ? "sun" : "moon-stars", `Use the ${isDark.value ? "light" : "dark"} theme`,
            () => choose(isDark.value ? "light" : "dark")),
        action("keyboard", "Keyboard shortcuts", onHelp),
        action("box-arrow-right", "Sign out", () => (hasUnsaved() ? follow(hrefOf("overview")) : signOut())),
    ].filter(Boolean);
}

/** Open an address; with unsaved input the frame asks first. */
function follow(href) {
    if (hasUnsaved()) {
        wanted.value = href;
    } else {
        location.hash = href;
    }
}
