// Holds the session: the signed-in user, its tier and its projects.

import * as api from "./api.js";
import { isAtLeast } from "./tiers.js";
import { forgetUnless, giveUp, keepFor, wouldLose } from "./unsaved.js";
import { computed, signal } from "./view.js";
import { clearToasts } from "./parts/toasts.js";

const SIGNED_IN = "qms.signedIn";

/** Whether the page has not checked yet who is signed in. */
export const isStarting = signal(true);
/** The session as the server returned it, or null. */
export const session = signal(null);
/** Why the user has to sign in again, if so. */
export const farewell = signal("");

export const isAdmin = computed(() => session.value?.tier === "admin");
export const projects = computed(() => session.value?.projects ?? []);

api.whenSessionEnds(() => {
    if (session.value) {
        keepFor(session.value.user);
        farewell.value = "Your session has ended. Sign in again to continue."
            + (wouldLose() ? " Your unsaved input is kept until you close this tab." : "");
    }
    forget();
});

/** Restore the session from the setup link of the URL, or from the cookie. */
export async function resume(setupToken) {
    try {
        if (setupToken) {
            await signIn({ setup: setupToken });
        } else if (remembers()) {
            accept(await api.admin("GET", "session"));
        }
    } catch (error) {
        farewell.value = setupToken || error.status !== 401 ? error.message : farewell.value;
        forget();
    } finally {
        isStarting.value = false;
    }
}

/** Sign in with `{ key }` or `{ setup }`. */
export async function signIn(credentials) {
    accept(await api.admin("POST", "session", { body: credentials }));
    farewell.value = "";
}

/** Sign out here and on the server, and discard unsaved input. */
export async function signOut() {
    giveUp();
    try {
        await api.admin("DELETE", "session");
    } catch (error) {
        if (error.status !== 401) {
            farewell.value = `The session could not be ended on the server: ${error.message}`;
        }
    }
    forget();
}

/** Reload projects and permissions. */
export async function refresh() {
    accept(await api.admin("GET", "session"));
}

/** Return the tier of the session's user in a project. */
export function tierIn(project) {
    return projects.value.find((one) => one.slug === project)?.tier ?? "none";
}

/** Return whether the user has at least this tier in a project. */
export function mayIn(project, least) {
    return isAtLeast(tierIn(project), least);
}

function accept(answer) {
    api.carryToken(answer.csrfToken);
    forgetUnless(answer.user);
    session.value = answer;
    remember(true);
}

function forget() {
    clearToasts();
    api.carryToken(null);
    session.value = null;
    remember(false);
}

// Scripts cannot read the cookie: without this mark the first request of every visitor would fail.
function remembers() {
    try {
        return localStorage.getItem(SIGNED_IN) !== null;
    } catch {
        return true;
    }
}

function remember(isSignedIn) {
    try {
        if (isSignedIn) {
            localStorage.setItem(SIGNED_IN, "yes");
        } else {
            localStorage.removeItem(SIGNED_IN);
        }
    } catch {
        // Storage is disabled: the server is asked at every start instead.
    }
}
