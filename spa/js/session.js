// The only holder of the session: who is signed in, and what that person may do.

import * as api from "./api.js";
import { isAtLeast } from "./tiers.js";
import { forgetUnless, giveUp, keepFor, wouldLose } from "./unsaved.js";
import { computed, signal } from "./view.js";

const SIGNED_IN = "qms.signedIn";

/** Whether the page still has to find out who is signed in. */
export const isStarting = signal(true);
/** Who is signed in, as the server told it, or null. */
export const session = signal(null);
/** Why somebody has to sign in again, if that is so. */
export const farewell = signal("");

export const isAdmin = computed(() => session.value?.tier === "admin");
export const projects = computed(() => session.value?.projects ?? []);

api.whenSessionEnds(() => {
    if (session.value) {
        keepFor(session.value.user);
        farewell.value = "Your session has ended. Sign in again to go on where you were."
            + (wouldLose() ? " What you typed is kept for you until this tab is closed." : "");
    }
    forget();
});

/** Find out who is signed in: by the setup link in the address, or by the browser's cookie. */
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

/** Begin a session with `{ key }` or `{ setup }`. */
export async function signIn(credentials) {
    accept(await api.admin("POST", "session", { body: credentials }));
    farewell.value = "";
}

/** End the session here and on the server, and give up what is not saved. */
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

/** Take over what changed in projects and permissions since the sign-in. */
export async function refresh() {
    accept(await api.admin("GET", "session"));
}

/** Return the tier of the session's user in a project. */
export function tierIn(project) {
    return projects.value.find((one) => one.slug === project)?.tier ?? "none";
}

/** Say whether the session's user has this tier or more in a project. */
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
    api.carryToken(null);
    session.value = null;
    remember(false);
}

// The cookie cannot be seen from here: without this note every visitor's first request would fail.
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
        // Storage is switched off: the server is asked at every start instead.
    }
}
