// Sets the theme before the first paint, so that a dark page does not flash white.
(() => {
    let chosen = "system";
    try {
        chosen = localStorage.getItem("qms.theme") || chosen;
    } catch {
        // Storage may be disabled: use the system theme.
    }
    const isDark = chosen === "dark"
        || (chosen === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
    document.documentElement.dataset.bsTheme = isDark ? "dark" : "light";
})();
