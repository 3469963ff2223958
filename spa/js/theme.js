// The theme: light, dark, or that of the system.

import { effect, signal } from "./view.js";

export const THEMES = ["system", "light", "dark"];

const KEY = "qms.theme";
const systemIsDark = matchMedia("(prefers-color-scheme: dark)");

/** The chosen theme. */
export const theme = signal(read());
/** Whether the page is dark now. */
export const isDark = signal(false);

/** Choose a theme and remember it. */
export function choose(name) {
    theme.value = name;
    try {
        localStorage.setItem(KEY, name);
    } catch {
        // Storage is disabled: it lasts until the page is closed.
    }
}

/** Apply the theme, now and whenever the choice or the system changes. */
export function startTheme() {
    const apply = () => {
        isDark.value = theme.value === "dark" || (theme.value === "system" && systemIsDark.matches);
        document.documentElement.dataset.bsTheme = isDark.value ? "dark" : "light";
    };
    systemIsDark.addEventListener("change", apply);
    effect(apply);
}

function read() {
    try {
        const kept = localStorage.getItem(KEY);
        return THEMES.includes(kept) ? kept : "system";
    } catch {
        return "system";
    }
}
