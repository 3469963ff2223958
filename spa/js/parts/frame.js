// The frame around every page: menu, user, theme and keyboard help.

import { hrefOfPage, PAGES, pagesFor } from "../pages.js";
import { go, hrefOf, leave, wanted } from "../router.js";
import { isAdmin, mayIn, projects, session, signOut } from "../session.js";
import { choose, theme, THEMES } from "../theme.js";
import { count } from "../formatting.js";
import { useKeys } from "../keys.js";
import { useEvery } from "../loading.js";
import { hasUnsaved } from "../unsaved.js";
import { countWaiting, lookAgain, waiting } from "../waiting.js";
import { html, useEffect, useRef, useState } from "../view.js";
import { FormDialog } from "./dialog.js";
import { Icon } from "./icon.js";
import { KeysHelp } from "./keys_help.js";
import { AccessChip, Select } from "./pieces.js";
import { complain, Toasts } from "./toasts.js";

const COUNT_S = 20;
const MOST_SHOWN = 999;
const THEME_ICONS = { system: "circle-half", light: "sun", dark: "moon-stars" };

export function Frame({ page, project, children }) {
    const [isMenuOpen, setMenuOpen] = useState(false);
    const [isHelpOpen, setHelpOpen] = useState(false);
    const [Palette, openPalette, closePalette] = usePalette();
    useEffect(() => {
        setMenuOpen(false);
        countWaiting(project);
    }, [page, project]);
    useEvery(COUNT_S, () => lookAgain(project));
    useKeys("Global", {
        "/": { does: "Search entries", run: () => focusSearch(page, project) },
        "?": { does: "Show keyboard shortcuts", run: () => setHelpOpen(true) },
    });
    const menu = html`<${Menu} page=${page} project=${project} />`;
    return html`<div>
        <a class="skip-link" href="#main" onClick=${skipToContent}>Skip to content</a>
        ${isMenuOpen && html`<${Drawer} onClose=${() => setMenuOpen(false)}>${menu}</${Drawer}>`}
        <div class="frame">
            ${menu}
            <div class="column">
                <header class="top-bar">
                    <button class="btn btn-quiet btn-sm phone-only" aria-label="Open menu"
                        onClick=${() => setMenuOpen(true)}><${Icon} name="list" /></button>
                    <${Where} page=${page} project=${project} />
                    <button class="btn btn-quiet btn-sm go-to" aria-keyshortcuts="Control+K"
                        onClick=${openPalette}><${Icon} name="search" /><span>Go to or run</span>
                        <kbd aria-hidden="true">Ctrl K</kbd></button>
                    <${Toasts} />
                </header>
                <main class="content" id="main" tabindex="-1">${children}</main>
            </div>
        </div>
        ${Palette && html`<${Palette} page=${page} project=${project} onClose=${closePalette}
            onHelp=${() => setHelpOpen(true)} />`}
        ${isHelpOpen && html`<${KeysHelp} onClose=${() => setHelpOpen(false)} />`}
        ${wanted.value !== null && html`<${FormDialog} title="Leave without saving?" label="Leave" isDangerous
            submit=${leave} onClose=${() => { wanted.value = null; }}>
            <p class="mb-0">Your changes are not saved.</p>
        </${FormDialog}>`}
    </div>`;
}

/** Return the palette while it is open, and functions that open and close it; Ctrl-K opens it, too. */
function usePalette() {
    const [component, setComponent] = useState(null);
    const open = () => import("./palette.js").then(({ Palette }) => setComponent(() => Palette), complain);
    useEffect(() => {
        const onKeyDown = (event) => {
            if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "k") {
                event.preventDefault();
                if (!document.querySelector("dialog[open]")) {
                    open();
                }
            }
        };
        addEventListener("keydown", onKeyDown);
        return () => removeEventListener("keydown", onKeyDown);
    }, []);
    return [component, open, () => setComponent(null)];
}

/** Name the project of the page on a phone, where the menu with its name is closed. */
function Where({ page, project }) {
    const named = PAGES.some(({ name, least }) => name === page && least)
        && projects.value.find(({ slug }) => slug === project);
    return html`<div class="where phone-only">${named
        ? html`<span class="visually-hidden">Project: </span>${named.name}`
        : html`<${Brand} />`}</div>`;
}

function Menu({ page, project }) {
    const pages = pagesFor({ isAdmin: isAdmin.value, may: (least) => mayIn(project, least) });
    const groups = [...new Set(pages.map((one) => one.group))];
    return html`<nav class="menu" aria-label="Pages">
        <${Brand} />
        ${groups.map((group) => html`<div key=${group}>
            ${group && html`<div class="menu-label">${group}</div>`}
            ${group === "Memories" && html`<${ProjectPicker} page=${page} project=${project} />`}
            <ul>
                ${pages.filter((one) => one.group === group).map((one) => html`<li key=${one.name}>
                    <a class="menu-item" href=${hrefOfPage(one, project)}
                        aria-current=${one.name === page ? "page" : undefined}>
                        <${Icon} name=${one.icon} />${one.title}
                        <${Count} page=${one.name} />
                    </a>
                </li>`)}
            </ul>
        </div>`)}
        <${Foot} />
    </nav>`;
}

function Count({ page }) {
    const number = waiting.value[page] ?? 0;
    return number > 0 && html`<span class=${`menu-count ${page === "problems" ? "bad" : ""}`}>
        ${number > MOST_SHOWN ? `${count(MOST_SHOWN)}+` : count(number)}<span class="visually-hidden"> waiting</span>
    </span>`;
}

function ProjectPicker({ page, project }) {
    const isOfProject = PAGES.some((one) => one.name === page && one.least);
    const pick = (slug) => go(isOfProject ? page : "entries", [slug]);
    const options = projects.value.map(({ slug, name }) => [slug, name]);
    return html`<div class="menu-project">
        <${Select} label="Project" value=${project} options=${options} onPick=${pick} isSmall />
    </div>`;
}

function Foot() {
    const { user, tier } = session.value;
    const [isAsking, setAsking] = useState(false);
    const next = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length];
    return html`<div class="menu-foot">
        <div class="who">
            <span class="avatar" aria-hidden="true">${user.slice(0, 2).toUpperCase()}</span>
            <span class="who-name" title=${user}>${user}</span>
            <${AccessChip} tier=${tier} />
        </div>
        <div class="actions">
            <button class="btn btn-bare btn-sm" title=${`Theme: ${theme.value}`}
                aria-label=${`Theme: ${theme.value}. Change to ${next}`} onClick=${() => choose(next)}>
                <${Icon} name=${THEME_ICONS[theme.value]} />
            </button>
            <button class="btn btn-bare btn-sm" onClick=${() => (hasUnsaved() ? setAsking(true) : signOut())}>
                <${Icon} name="box-arrow-right" /><span>Sign out</span>
            </button>
        </div>
        ${isAsking && html`<${FormDialog} title="Sign out without saving?" label="Sign out" isDangerous
            submit=${signOut} onClose=${() => setAsking(false)}>
            <p class="mb-0">Your changes are not saved and will be lost.</p>
        </${FormDialog}>`}
    </div>`;
}

function Brand() {
    return html`<a class="brand" href=${hrefOf("overview")}>
        <img src="/static/icon.svg" alt="" width="28" height="28" />Quick Memory
    </a>`;
}

function Drawer({ onClose, children }) {
    const box = useRef(null);
    useEffect(() => box.current.showModal(), []);
    return html`<dialog class="drawer" ref=${box} aria-label="Menu" onClose=${onClose}
        onClick=${(event) => event.target === box.current && box.current.close()}>${children}</dialog>`;
}

function focusSearch(page, project) {
    const field = document.querySelector("[data-search]");
    if (field) {
        field.focus();
        field.select();
    } else if (project) {
        go("entries", [project], { focus: "search" });
    }
}

function skipToContent(event) {
    event.preventDefault();
    document.getElementById("main").focus();
}
