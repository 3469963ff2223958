"""Where the server takes the commands that verbs send, if not at `/api/v1`."""

MAINTENANCE = "/admin/stores/{project}/"
"""The place of the commands that maintain a store; the name of the command follows."""

MAINTAINS = frozenset(
    {
        "acceptHeld",
        "archiveStats",
        "dismissConflicts",
        "eraseEntry",
        "history",
        "listArchive",
        "listConflicts",
        "listProblems",
        "purgeArchive",
        "rebuildIndexes",
        "rejectHeld",
        "reloadStore",
        "restoreEntry",
        "stats",
        "syncApply",
        "syncBase",
        "syncRead",
        "syncState",
        "verifyStore",
    }
)

ADMINISTRATION = {
    "listUsers": ("GET", "/admin/users"),
    "createUser": ("POST", "/admin/users"),
    "changeUser": ("PUT", "/admin/users/{user}"),
    "removeUser": ("DELETE", "/admin/users/{user}"),
    "listKeys": ("GET", "/admin/keys"),
    "createKey": ("POST", "/admin/keys"),
    "revokeKey": ("DELETE", "/admin/keys/{id}"),
    "getPermissions": ("GET", "/admin/permissions/{endpoint}"),
    "setPermissions": ("PUT", "/admin/permissions/{endpoint}"),
    "listProjects": ("GET", "/admin/projects"),
    "createProject": ("POST", "/admin/projects"),
    "changeProject": ("PATCH", "/admin/projects/{slug}"),
    "renameProject": ("POST", "/admin/projects/{slug}/rename"),
    "removeProject": ("DELETE", "/admin/projects/{slug}"),
    "getConfig": ("GET", "/admin/config"),
    "listBackups": ("GET", "/admin/backups"),
    "orderBackups": ("POST", "/admin/backups"),
    "verifyBackup": ("POST", "/admin/backups/{project}/{id}/verify"),
    "restoreBackup": ("POST", "/admin/backups/{project}/restore"),
    "pruneBackups": ("POST", "/admin/backups/prune"),
    "listAudit": ("GET", "/admin/audit"),
    "verifyAudit": ("GET", "/admin/audit/verify"),
    "listLogs": ("GET", "/admin/logs"),
    "createSignInLink": ("POST", "/admin/session/link"),
}
"""The method and the path of each command that administers the server."""
