"""The rows of the command table that look after the server, each with its method and path."""

from typing import Any

from qms.domain.access import AccessTier
from qms.service.admin import (
    backups,
    history,
    keys,
    lines,
    permissions,
    projects,
    records,
    schedule,
    sessions,
    settings_text,
    stores,
    transfer,
    users,
)
from qms.service.admin.calls import Changed
from qms.service.calls import Command, Route
from qms.service.requests import NoArguments
from qms.store.options import ReloadReport

TOOLSET = "admin"

OPEN_SESSION = "openSession"
GET_SESSION = "getSession"
CLOSE_SESSION = "closeSession"

_VERSION = "0123456789abcdef"


def _row(name: str, method: str, path: str, **fields: Any) -> Command:
    """Return a row that needs tier admin unless it says otherwise."""
    is_read_only = method == "GET"
    defaults: dict[str, Any] = {
        "toolset": TOOLSET,
        "least": AccessTier.ADMIN,
        "request": NoArguments,
        "example": {},
        "read_only": is_read_only,
        "idempotent": is_read_only or method == "PUT",
        "destructive": method == "DELETE",
        "route": Route(method, path),
    }
    return Command(name=name, **{**defaults, **fields})


_SESSION_ROWS = (
    _row(
        OPEN_SESSION,
        "POST",
        "/admin/session",
        least=AccessTier.NONE,
        request=sessions.SignIn,
        response=sessions.SessionAnswer,
        handler=sessions.open_session,
        help="Begin a session with a key, or with the token of the setup link",
        example={"key": "qms_…"},
    ),
    _row(
        GET_SESSION,
        "GET",
        "/admin/session",
        least=AccessTier.NONE,
        response=sessions.SessionAnswer,
        handler=sessions.get_session,
        help="Say who is signed in, with a token for changes",
    ),
    _row(
        CLOSE_SESSION,
        "DELETE",
        "/admin/session",
        least=AccessTier.NONE,
        response=sessions.SignedOut,
        handler=sessions.close_session,
        help="End the session",
        destructive=False,
        idempotent=True,
    ),
)

_USER_ROWS = (
    _row(
        "listUsers",
        "GET",
        "/admin/users",
        response=users.UserList,
        handler=users.list_users,
        help="List users with their tier and the projects in which they are listed",
    ),
    _row(
        "createUser",
        "POST",
        "/admin/users",
        request=users.UserChange,
        response=Changed,
        handler=users.create_user,
        help="Make a user, who has no key yet",
        example={"user": "alice", "tier": "writer"},
    ),
    _row(
        "changeUser",
        "PUT",
        "/admin/users/{user}",
        request=users.UserChange,
        response=Changed,
        handler=users.change_user,
        help="Give a user another tier",
        example={"user": "alice", "tier": "curator", "ifVersion": _VERSION},
    ),
    _row(
        "removeUser",
        "DELETE",
        "/admin/users/{user}",
        request=users.UserRemoval,
        response=Changed,
        handler=users.remove_user,
        help="Remove a user with all keys and permissions; never the last admin",
        example={"user": "alice", "ifVersion": _VERSION},
    ),
    _row(
        "listKeys",
        "GET",
        "/admin/keys",
        request=keys.KeyQuery,
        response=keys.KeyList,
        handler=keys.list_keys,
        help="List keys, of one user or of all, without what they could be checked with",
        example={"user": "alice"},
    ),
    _row(
        "createKey",
        "POST",
        "/admin/keys",
        request=keys.KeyRequest,
        response=keys.KeyAnswer,
        handler=keys.create_key,
        help="Make a key for a user; it is shown this once",
        example={"user": "alice", "label": "laptop", "expiresUtc": "2030-01-01T00:00:00Z"},
    ),
    _row(
        "revokeKey",
        "DELETE",
        "/admin/keys/{id}",
        request=keys.KeyRemoval,
        response=Changed,
        handler=keys.revoke_key,
        help="Revoke a key, and end the sessions that began with it",
        example={"id": "0f1e2d3c4b5a", "ifVersion": _VERSION},
    ),
    _row(
        "getPermissions",
        "GET",
        "/admin/permissions/{endpoint}",
        request=permissions.PermissionQuery,
        response=permissions.PermissionList,
        handler=permissions.get_permissions,
        help="Say what each user may do in a project, and why",
        example={"endpoint": "projA"},
    ),
    _row(
        "setPermissions",
        "PUT",
        "/admin/permissions/{endpoint}",
        request=permissions.PermissionChange,
        response=Changed,
        handler=permissions.set_permissions,
        help="Replace the list of who may do what in a project",
        example={"endpoint": "projA", "permissions": {"alice": "curator"}, "ifVersion": _VERSION},
    ),
)

_PROJECT_ROWS = (
    _row(
        "listProjects",
        "GET",
        "/admin/projects",
        response=projects.ProjectList,
        handler=projects.list_projects,
        help="List projects with their settings, and figures of those that you open",
    ),
    _row(
        "createProject",
        "POST",
        "/admin/projects",
        request=projects.ProjectCreation,
        response=Changed,
        handler=projects.create_project,
        help="Make a project",
        example={"slug": "projA", "settings": {"name": "Project A", "private": True}},
    ),
    _row(
        "changeProject",
        "PATCH",
        "/admin/projects/{slug}",
        request=projects.ProjectChange,
        response=Changed,
        handler=projects.change_project,
        help="Change settings of a project; null goes back to the default",
        example={"slug": "projA", "settings": {"maxEntries": 10000}, "ifVersion": _VERSION},
        idempotent=True,
    ),
    _row(
        "renameProject",
        "POST",
        "/admin/projects/{slug}/rename",
        request=projects.ProjectRename,
        response=Changed,
        handler=projects.rename_project,
        help="Give a project without entries another slug",
        example={"slug": "projA", "to": "projB", "ifVersion": _VERSION},
    ),
    _row(
        "removeProject",
        "DELETE",
        "/admin/projects/{slug}",
        request=projects.ProjectRemoval,
        response=projects.ProjectRemoved,
        handler=projects.remove_project,
        help="Take a project away; its files move to the backups",
        example={"slug": "projA", "confirm": "projA", "ifVersion": _VERSION},
    ),
)

_CONFIG_ROWS = (
    _row(
        "getConfig",
        "GET",
        "/admin/config",
        response=settings_text.ConfigAnswer,
        handler=settings_text.get_config,
        help="Return the configuration with its secrets masked",
    ),
    _row(
        "validateConfig",
        "POST",
        "/admin/config/validate",
        request=settings_text.ConfigText,
        response=settings_text.ConfigCheck,
        handler=settings_text.validate_config,
        help="Check a configuration and show what it would change; nothing is saved",
        example={"text": '[global]\nlogLevel = "debug"\n'},
        read_only=True,
        idempotent=True,
    ),
    _row(
        "saveConfig",
        "PUT",
        "/admin/config",
        request=settings_text.ConfigSave,
        response=Changed,
        handler=settings_text.save_config,
        help="Save a configuration; masked secrets stay what they are",
        example={"text": '[global]\nlogLevel = "debug"\n', "ifVersion": _VERSION},
    ),
)

_STORE_ROWS = (
    _row(
        "listAllProblems",
        "GET",
        "/admin/problems",
        request=stores.ProjectQuery,
        response=stores.ProblemItems,
        handler=stores.list_problems,
        help="List what a person should look at, bad lines with their text",
    ),
    _row(
        "getLine",
        "GET",
        "/admin/problems/{project}/{line}",
        request=lines.LineName,
        response=lines.LineText,
        handler=lines.get_line,
        help="Return the whole text of a bad line",
        example={"project": "projA", "line": 7},
    ),
    _row(
        "changeLine",
        "PUT",
        "/admin/problems/{project}",
        request=lines.LineChange,
        response=lines.LineChanged,
        handler=lines.change_line,
        help="Correct a bad line in its place, or take it out; its text is kept",
        example={
            "project": "projA",
            "line": 7,
            "ifVersion": _VERSION,
            "text": '{"kind":"fact","body":{"statement":"Ports are free again"}}',
        },
        destructive=True,
    ),
    _row(
        "listAllConflicts",
        "GET",
        "/admin/conflicts",
        request=stores.ProjectQuery,
        response=stores.ConflictItems,
        handler=stores.list_conflicts,
        help="List conflict copies beside the entries that live",
    ),
    _row(
        "listHeld",
        "GET",
        "/admin/held",
        response=stores.HeldItems,
        handler=stores.list_held,
        help="List deletions by hand that wait for a decision",
    ),
    _row(
        "decideHeld",
        "POST",
        "/admin/held/{project}",
        request=stores.HeldDecision,
        response=ReloadReport,
        handler=stores.decide_held,
        help="Accept or reject a held deletion",
        example={"project": "projA", "decision": "reject"},
        destructive=True,
    ),
)

_BACKUP = "20260301T030000000000Z"

_BACKUP_ROWS = (
    _row(
        "listBackups",
        "GET",
        "/admin/backups",
        request=stores.ProjectQuery,
        response=backups.BackupItems,
        handler=backups.list_backups,
        help="List backups, what is being made, and when the next are due",
    ),
    _row(
        "orderBackups",
        "POST",
        "/admin/backups",
        request=backups.BackupOrder,
        response=backups.BackupsOrdered,
        handler=backups.order_backups,
        help="Have backups made, of one project or of all",
        example={"project": "projA", "mode": "full"},
    ),
    _row(
        "setBackupSchedule",
        "PUT",
        "/admin/backups/schedule",
        request=schedule.ScheduleChange,
        response=Changed,
        handler=schedule.set_schedule,
        help="Say when backups are made by the clock, which, and how many are kept",
        example={
            "cadence": "0 3 * * *",
            "timeZone": "local",
            "mode": "differential",
            "keep": 14,
            "ifVersion": _VERSION,
        },
    ),
    _row(
        "verifyBackup",
        "POST",
        "/admin/backups/{project}/{id}/verify",
        request=backups.BackupName,
        response=backups.BackupCheck,
        handler=backups.verify_backup,
        help="Rebuild a store from a backup in a scratch folder and compare",
        example={"project": "projA", "id": _BACKUP},
        idempotent=True,
    ),
    _row(
        "restoreBackup",
        "POST",
        "/admin/backups/{project}/restore",
        request=backups.RestoreOrder,
        response=backups.RestoreReport,
        handler=backups.restore_backup,
        help="Bring a project back to a backup or a moment; what is there is kept",
        example={"project": "projA", "id": _BACKUP, "dryRun": True},
        destructive=True,
    ),
    _row(
        "pruneBackups",
        "POST",
        "/admin/backups/prune",
        request=backups.PruneOrder,
        response=backups.Pruned,
        handler=backups.prune_backups,
        help="Take backups away that are beyond retention and that no other needs",
        example={"keep": 14, "dryRun": True},
        destructive=True,
        idempotent=True,
    ),
    _row(
        "listVersions",
        "GET",
        "/admin/history",
        request=history.VersionQuery,
        response=history.VersionPage,
        handler=history.list_versions,
        help="List the versions of an entry that store, archive and backups hold",
        example={"project": "projA", "id": "01931c6e-0000-7000-8000-000000000000"},
    ),
)

_TRANSFER_ROWS = (
    _row(
        "exportPart",
        "GET",
        "/admin/export/{project}",
        least=AccessTier.NONE,
        request=transfer.ExportQuery,
        response=transfer.ExportPart,
        handler=transfer.export_part,
        help="Return a part of an export as text; all parts together are the file",
        example={"project": "projA", "format": "csv"},
    ),
    _row(
        "readImport",
        "POST",
        "/admin/import/{project}",
        least=AccessTier.NONE,
        request=transfer.ImportText,
        response=transfer.ImportReading,
        handler=transfer.read_import,
        help="Read the memories of a file for bulkImport; nothing is stored",
        example={"project": "projA", "format": "jsonl", "content": "{}", "name": "old.jsonl"},
        read_only=True,
        idempotent=True,
    ),
)

_RECORD_ROWS = (
    _row(
        "listAudit",
        "GET",
        "/admin/audit",
        request=records.AuditQuery,
        response=records.AuditPage,
        handler=records.list_audit,
        help="List who changed what, the newest first",
        example={"size": 50, "user": "alice"},
    ),
    _row(
        "verifyAudit",
        "GET",
        "/admin/audit/verify",
        response=records.AuditVerification,
        handler=records.verify_audit,
        help="Check the chain of the audit log and name the first bad record",
    ),
    _row(
        "listLogs",
        "GET",
        "/admin/logs",
        request=records.LogQuery,
        response=records.LogPage,
        handler=records.list_logs,
        help="Show the latest lines of the log",
        example={"size": 200, "level": "warning"},
    ),
    _row(
        "getSeries",
        "GET",
        "/admin/series",
        response=records.SeriesAnswer,
        handler=records.get_series,
        help="Return an hour of figures for charts",
    ),
)

ADMIN_TABLE: tuple[Command, ...] = (
    *_SESSION_ROWS,
    *_USER_ROWS,
    *_PROJECT_ROWS,
    *_CONFIG_ROWS,
    *_STORE_ROWS,
    *_BACKUP_ROWS,
    *_TRANSFER_ROWS,
    *_RECORD_ROWS,
)
"""Every operation of the administration."""
