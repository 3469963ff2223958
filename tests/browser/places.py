"""Every page of the menu, and its address."""

PLACES = {
    "Overview": "#/overview",
    "Entries": "#/entries/projA",
    "Documents": "#/documents/projA",
    "Review": "#/review/projA",
    "Import and export": "#/transfer/projA",
    "Activity": "#/activity",
    "Projects": "#/projects",
    "Users and keys": "#/users",
    "Problems": "#/problems",
    "Configuration": "#/configuration",
    "Logs and audit": "#/logs",
    "Archive": "#/archive/projA",
    "Backups": "#/backups",
    "Graph": "#/graph/projA",
    "Disputes": "#/disputes/projA",
    "API console": "#/api/projA",
    "Help": "#/help",
}
