// Before anything is drawn: the theme, so that a dark page never flashes white.
(() => {
    let chosen = "system";
    try {
        chosen = localStorage.getItem("qms.theme") || chosen;
    } catch {
        // Storage may be switched off; the system's theme is then what there is.
    }
    const isDark = chosen === "dark"
        || (chosen === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
    document.documentElement.dataset.bsTheme = isDark ? "dark" : "light";
})();
