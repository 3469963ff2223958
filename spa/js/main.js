// Starts the page: theme, session, routing, and the page of the URL.

import { publicDocument } from "./api.js";
import { useLoaded } from "./loading.js";
import { Frame } from "./parts/frame.js";
import { Empty, Failed, Loaded, Loading } from "./parts/states.js";
import { pagesFor } from "./pages.js";
import { SignIn } from "./pages/sign_in.js";
import { go, hrefOf, place, setupTokenOf, startRouting } from "./router.js";
import { isAdmin, isStarting, mayIn, projects, resume, session } from "./session.js";
import { startTheme } from "./theme.js";
import { html, render, useEffect, useErrorBoundary } from "./view.js";

const LAST_PROJECT = "qms.project";

function App() {
    if (isStarting.value) {
        return html`<main class="sign-in"><${Loading} what="Starting" /></main>`;
    }
    return session.value ? html`<${Signed} />` : html`<${SignIn} />`;
}

function Signed() {
    const { page: wanted, path } = place.value;
    const project = projectOf(path[0]);
    const pages = pagesFor({ isAdmin: isAdmin.value, may: (least) => mayIn(project, least) });
    const page = pages.find(({ name }) => name === (wanted || "overview"));
    const isComplete = !page?.least || path[0] === project;
    const isElsewhere = page?.least && path[0] && !isComplete;
    useEffect(() => {
        remember(project);
        if (page && !isComplete && !isElsewhere) {
            go(page.name, [project, ...path.slice(1)], place.value.query, { replace: true });
        }
    });
    return html`<${Frame} page=${page?.name} project=${project}>
        ${page && !isElsewhere
            ? isComplete && html`<${Lazy} key=${page.name} load=${page.load} project=${project} />`
            : html`<${NoPage} isElsewhere=${isElsewhere} />`}
    </${Frame}>`;
}

function Lazy({ load, project }) {
    const page = useLoaded(() => load().catch(whenLost), [load]);
    const [error, forgive] = useErrorBoundary();
    if (error) {
        return html`<${Failed} error=${error} retry=${forgive} />`;
    }
    return html`<${Loaded} from=${page}>${(Component) => html`<${Component} project=${project} />`}</${Loaded}>`;
}

/** Report why a page could not be loaded; some browsers cache a failed import, so a click reloads the page. */
async function whenLost() {
    await publicDocument("/health");
    if (navigator.userActivation?.isActive) {
        location.reload();
    }
    throw new Error("A part of the page could not be loaded.");
}

function NoPage({ isElsewhere }) {
    const title = isElsewhere ? "Project not found" : "Page not found";
    const why = isElsewhere ? "It does not exist, or you have no access." : "It may need a higher tier than yours.";
    return html`<${Empty} icon="question-circle" title=${title}>
        <p>${why} <a href=${hrefOf("overview")}>Go to the overview</a></p>
    </${Empty}>`;
}

/** Return the project to show: that of the URL, else the last one, else the first. */
function projectOf(slug) {
    const open = projects.value.map((one) => one.slug);
    const last = read();
    return [slug, last].find((one) => open.includes(one)) ?? open.find((one) => one !== "shared") ?? open[0];
}

function read() {
    try {
        return localStorage.getItem(LAST_PROJECT);
    } catch {
        return null;
    }
}

function remember(project) {
    try {
        localStorage.setItem(LAST_PROJECT, project);
    } catch {
        // Storage is disabled: the next visit shows the first project.
    }
}

async function start() {
    startTheme();
    const token = setupTokenOf(location.hash);
    if (token) {
        // The token works once; keep it out of the browser history.
        history.replaceState(null, "", location.pathname);
    }
    startRouting();
    render(html`<${App} />`, document.getElementById("app"));
    await resume(token);
}

start();
