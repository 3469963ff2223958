// The queue of uploads: one file after another, also while another page is shown.

import * as api from "./api.js";
import { MOST_BYTES, outcomeOf, sameName } from "./documents.js";
import { session } from "./session.js";
import { effect, signal } from "./view.js";

/** Every upload since the list was cleared: `{ key, project, name, size, state, answer?, error? }`. */
export const uploads = signal([]);
/** Counts up when a document was stored. */
export const storedCount = signal(0);

const WAITING = "waiting";
const files = new Map();
let lastKey = 0;
let isRunning = false;

effect(() => {
    if (!session.value) {
        files.clear();
        uploads.value = [];
    }
});

/** Add files to the queue; `id` replaces that document, `replaces` the one with the same file name. */
export function upload(project, chosen, { id, replaces = false } = {}) {
    const added = chosen.map((file) => {
        const key = ++lastKey;
        files.set(key, { file, id, replaces });
        return { key, project, name: file.name, size: file.size, state: WAITING };
    });
    uploads.value = [...uploads.value, ...added];
    run();
}

/** Return whether an upload waits or runs. */
export function isOpen({ state }) {
    return state === WAITING || state === "storing";
}

/** Remove the finished uploads of a project from the list. */
export function clearFinished(project) {
    uploads.value = uploads.value.filter((one) => one.project !== project || isOpen(one));
}

/** Remove the uploads of a project that have not begun. */
export function cancelWaiting(project) {
    uploads.value = uploads.value.filter((one) => one.project !== project || one.state !== WAITING);
}

async function run() {
    if (isRunning) {
        return;
    }
    isRunning = true;
    try {
        for (let next = waiting(); next; next = waiting()) {
            await store(next);
        }
    } finally {
        isRunning = false;
    }
}

function waiting() {
    return uploads.peek().find(({ state }) => state === WAITING);
}

function note(key, change) {
    uploads.value = uploads.peek().map((one) => (one.key === key ? { ...one, ...change } : one));
}

async function store({ key, project }) {
    const { file, id, replaces } = files.get(key);
    files.delete(key);
    note(key, { state: "storing" });
    try {
        const answer = await send(project, file, id ?? (replaces ? await idOf(project, file.name) : undefined));
        note(key, { state: outcomeOf(answer), answer });
        storedCount.value += 1;
    } catch (error) {
        note(key, { state: "failed", error });
    }
}

async function idOf(project, name) {
    const filter = { kinds: ["document"], metadata: { path: name } };
    const { items } = await api.command(project, "listEntries", { filter, include: "full", page: { size: 50 } });
    return sameName(items, name);
}

async function send(project, file, id) {
    if (file.size > MOST_BYTES) {
        throw new Error("The file has more than 25 MiB.");
    }
    const data = await base64Of(file);
    const metadata = { path: file.name };
    return api.command(project, "storeDocument", { data, id, mime: mimeOf(file), metadata });
}

/** Return the type of a file as the browser knows it; the server looks at the bytes first. */
function mimeOf(file) {
    return /^(text\/(html|csv|markdown|plain)|application\/(pdf|json))$/.test(file.type) ? file.type : undefined;
}

function base64Of(file) {
    return new Promise((resolve, reject) => {
        const reader = new FileReader();
        reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(",") + 1));
        reader.onerror = () => reject(new Error("The browser could not read it. A folder cannot be uploaded."));
        reader.readAsDataURL(file);
    });
}
