// The pages of the menu: their titles, the tier that each needs, and how each is loaded.

import { hrefOf } from "./router.js";

const overview = () => import("./pages/overview.js").then((page) => page.Overview);
const entries = () => import("./pages/entries.js").then((page) => page.Entries);
const documents = () => import("./pages/documents.js").then((page) => page.Documents);
const review = () => import("./pages/review.js").then((page) => page.Review);
const users = () => import("./pages/users.js").then((page) => page.Users);
const projects = () => import("./pages/projects.js").then((page) => page.Projects);
const problems = () => import("./pages/problems.js").then((page) => page.Problems);
const configuration = () => import("./pages/configuration.js").then((page) => page.Configuration);
const logs = () => import("./pages/logs.js").then((page) => page.Logs);
const archive = () => import("./pages/archive.js").then((page) => page.Archive);
const backups = () => import("./pages/backups.js").then((page) => page.Backups);
const graph = () => import("./pages/graph.js").then((page) => page.Graph);
const disputes = () => import("./pages/disputes.js").then((page) => page.Disputes);
const transfer = () => import("./pages/transfer.js").then((page) => page.Transfer);
const activity = () => import("./pages/activity.js").then((page) => page.Activity);
const apiConsole = () => import("./pages/api_console.js").then((page) => page.ApiConsole);
const help = () => import("./pages/help.js").then((page) => page.Help);

/** Every page; `least` is the minimum tier in the project, `isAdmin` requires a server admin. */
export const PAGES = [
    { name: "overview", title: "Overview", icon: "speedometer2", load: overview },
    {
        name: "entries", title: "Entries", icon: "journal-text", load: entries,
        group: "Memories", least: "reader",
    },
    {
        name: "documents", title: "Documents", icon: "file-earmark-text", load: documents,
        group: "Memories", least: "reader",
    },
    {
        name: "review", title: "Review", icon: "list-check", load: review,
        group: "Memories", least: "curator",
    },
    { name: "disputes", title: "Disputes", icon: "intersect", load: disputes, group: "Memories", least: "curator" },
    { name: "graph", title: "Graph", icon: "diagram-3", load: graph, group: "Memories", least: "reader" },
    { name: "archive", title: "Archive", icon: "archive", load: archive, group: "Memories", least: "reader" },
    {
        name: "transfer", title: "Import and export", icon: "arrow-left-right", load: transfer,
        group: "Memories", least: "reader",
    },
    { name: "activity", title: "Activity", icon: "graph-up", load: activity, group: "Server", isAdmin: true },
    { name: "projects", title: "Projects", icon: "folder2-open", load: projects, group: "Server" },
    { name: "users", title: "Users and keys", icon: "people", load: users, group: "Server", isAdmin: true },
    { name: "backups", title: "Backups", icon: "hdd-stack", load: backups, group: "Server", isAdmin: true },
    {
        name: "problems", title: "Problems", icon: "exclamation-triangle", load: problems,
        group: "Server", isAdmin: true,
    },
    {
        name: "configuration", title: "Configuration", icon: "sliders", load: configuration,
        group: "Server", isAdmin: true,
    },
    { name: "logs", title: "Logs and audit", icon: "terminal", load: logs, group: "Server", isAdmin: true },
    { name: "api", title: "API console", icon: "braces", load: apiConsole, group: "Learn", least: "reader" },
    { name: "help", title: "Help", icon: "question-circle", load: help, group: "Learn" },
];

/** Return the pages that the user may open, by server tier and tier in the project. */
export function pagesFor({ isAdmin, may }) {
    return PAGES.filter((page) => (page.isAdmin ? isAdmin : !page.least || may(page.least)));
}

/** Return the link of a menu page for a project. */
export function hrefOfPage(page, project) {
    return hrefOf(page.name, page.least ? [project] : []);
}
