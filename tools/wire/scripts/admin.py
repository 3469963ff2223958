"""Every route of the administration, with what succeeds and what is refused."""

from tools.wire.steps import Script, api, http, shape_of

SESSIONS: Script = [
    http(
        "",
        "POST /admin/session",
        {"key": "qms_key_of_the_admin_for_recordings"},
        csrf="csrfToken",
        cookie="@set-cookie",
    ),
    http("", "GET /admin/session", None, {"Cookie": "$cookie"}),
    http("", "GET /admin/users", None, {"Cookie": "$cookie"}),
    http("", "POST /admin/users", {"user": "eve", "tier": "reader"}, {"Cookie": "$cookie"}),
    http(
        "",
        "POST /admin/users",
        {"user": "eve", "tier": "reader"},
        {"Cookie": "$cookie", "X-CSRF-Token": "$csrf", "Origin": "$url"},
    ),
    http(
        "",
        "DELETE /admin/session",
        None,
        {"Cookie": "$cookie", "X-CSRF-Token": "$csrf", "Origin": "$url"},
    ),
    http("", "POST /admin/session", {"key": "qms_wrong"}),
    http("", "POST /admin/session", {"setup": "wrong"}),
    http("", "POST /admin/session", {}),
    http("", "POST /admin/session", {"key": "qms_key_of_the_reader_for_recordings"}),
    http("", "GET /admin/session"),
    http("reader", "POST /admin/session/link", {}),
    http("reader", "POST /admin/session/link", {"nonsense": True}),
    http("admin", "GET /admin/session"),
]

USERS: Script = [
    http("admin", "GET /admin/users", userVersion="version"),
    http("admin", "POST /admin/users", {"user": "alice", "tier": "writer"}),
    http("admin", "POST /admin/users", {"user": "alice", "tier": "writer"}),
    http("admin", "POST /admin/users", {"user": "Bad Name", "tier": "writer"}),
    http("admin", "POST /admin/users", {"user": "bob", "tier": "king"}),
    http(
        "admin", "POST /admin/users", {"user": "bob", "tier": "reader", "ifVersion": "$userVersion"}
    ),
    http("admin", "PUT /admin/users/alice", {"tier": "curator"}),
    http("admin", "PUT /admin/users/nobody", {"tier": "curator"}),
    http("admin", "PUT /admin/users/admin", {"tier": "reader"}),
    http("admin", "POST /admin/keys", {"user": "alice", "label": "laptop"}, aliceKey="id"),
    http("admin", "POST /admin/keys", {"user": "alice", "expiresUtc": "2050-01-01T00:00:00Z"}),
    http("admin", "POST /admin/keys", {"user": "nobody"}),
    http("admin", "POST /admin/keys", {"user": "alice", "expiresUtc": "2001-01-01T00:00:00Z"}),
    http("admin", "GET /admin/keys?user=alice"),
    http("admin", "GET /admin/keys"),
    http("admin", "DELETE /admin/keys/$aliceKey"),
    http("admin", "DELETE /admin/keys/000000000000"),
    http("admin", "GET /admin/permissions/projA"),
    http("admin", "GET /admin/permissions/absent"),
    http(
        "admin",
        "PUT /admin/permissions/projA",
        {"permissions": {"alice": "none", "reader": "writer"}},
    ),
    http("admin", "PUT /admin/permissions/projA", {"permissions": {"nobody": "reader"}}),
    http("admin", "PUT /admin/permissions/closed", {"permissions": {"alice": "admin"}}),
    http("admin", "DELETE /admin/users/alice"),
    http("admin", "DELETE /admin/users/alice"),
    http("admin", "DELETE /admin/users/admin"),
    http("curator", "GET /admin/users"),
    http("", "GET /admin/users"),
]

PROJECTS: Script = [
    http("admin", "GET /admin/projects"),
    http("admin", "POST /admin/projects", {"slug": "fresh", "settings": {"name": "Fresh"}}),
    http("admin", "POST /admin/projects", {"slug": "fresh"}),
    http("admin", "POST /admin/projects", {"slug": "Bad Slug"}),
    http("admin", "POST /admin/projects", {"slug": "other", "settings": {"storagePath": "/etc"}}),
    http("admin", "PATCH /admin/projects/fresh", {"settings": {"maxEntries": 5, "name": None}}),
    http("admin", "PATCH /admin/projects/fresh", {"settings": {"colour": "red"}}),
    http("admin", "PATCH /admin/projects/absent", {"settings": {"maxEntries": 5}}),
    http("admin", "POST /admin/projects/fresh/rename", {"to": "fresher"}),
    http("admin", "POST /admin/projects/projA/rename", {"to": "projZ"}),
    api("admin", "fresher", "upsertEntry", {"entry": {"kind": "note", "id": "n", "body": "x"}}),
    http("admin", "DELETE /admin/projects/fresher"),
    http("admin", "DELETE /admin/projects/fresher?confirm=fresh"),
    http("admin", "DELETE /admin/projects/fresher?confirm=fresher"),
    http("admin", "DELETE /admin/projects/absent?confirm=absent"),
    http("writer", "POST /admin/projects", {"slug": "mine"}),
]

CONFIG: Script = [
    http("admin", "GET /admin/config", configText="text", configVersion="version"),
    http("admin", "POST /admin/config/validate", {"text": "$configText"}),
    http("admin", "POST /admin/config/validate", {"text": "[global]\nlisten = 7\n"}),
    http("admin", "POST /admin/config/validate", {"text": "[global\n"}),
    http(
        "admin",
        "PUT /admin/config",
        {"text": "$configText\n# a remark\n", "ifVersion": "$configVersion"},
    ),
    http("admin", "PUT /admin/config", {"text": "$configText", "ifVersion": "$configVersion"}),
    http("admin", "PUT /admin/config", {"text": "[global\n", "ifVersion": "$configVersion"}),
    http("writer", "GET /admin/config"),
]

TRANSFER: Script = [
    *[
        api(
            "writer",
            "text",
            "upsertEntry",
            {
                "entry": {
                    "kind": kind,
                    "id": f"t-{kind}",
                    "body": f"Text of a {kind}, with | and , in it",
                    "title": f"A {kind}",
                    "tags": ["export"],
                }
            },
        )
        for kind in ("note", "fact", "question")
    ],
    *[
        http("reader", f"GET /admin/export/text?format={one}")
        for one in ("jsonl", "json", "markdown", "csv", "xml")
    ],
    http("reader", "GET /admin/export/text?kind=fact&tag=export&format=jsonl"),
    http("reader", "GET /admin/export/closed"),
    http("", "GET /admin/export/text"),
    http(
        "writer",
        "POST /admin/import/text",
        {
            "format": "csv",
            "content": "title,text,colour\nOne,First,red\nTwo,,blue\n",
            "name": "a.csv",
        },
    ),
    http(
        "writer",
        "POST /admin/import/text",
        {
            "format": "csv",
            "content": "Name,Notes\nOne,First\n",
            "columns": {"title": "Name", "text": "Notes"},
        },
    ),
    http(
        "writer",
        "POST /admin/import/text",
        {
            "format": "jsonl",
            "content": '{"kind": "note", "id": "t-note", "body": {"text": "x"}}\n{"ki',
        },
    ),
    http(
        "writer",
        "POST /admin/import/text",
        {"format": "json", "content": '[{"kind": "fact", "id": "i1", "body": {"statement": "x"}}]'},
    ),
    http(
        "writer",
        "POST /admin/import/text",
        {
            "format": "markdown",
            "name": "note.md",
            "content": "---\ntitle: A note\ntags: [a, b]\n---\nText with [[Other]]\n",
        },
    ),
    http(
        "writer",
        "POST /admin/import/text",
        {
            "format": "serverMemory",
            "content": '{"type":"entity","name":"Ada","entityType":"x","observations":["Wrote"]}\n'
            '{"type":"relation","from":"Ada","to":"Bob","relationType":"knows"}\n',
        },
    ),
    http(
        "writer",
        "POST /admin/import/text",
        {
            "format": "aiMemory",
            "content": '{"memories": [{"id": "m1", "title": "T", "content": "C"}], "links": []}',
        },
    ),
    http("writer", "POST /admin/import/text", {"format": "yaml", "content": "x"}),
    http("reader", "POST /admin/import/text", {"format": "csv", "content": "title\nx\n"}),
]

BACKUPS: Script = [
    api("writer", "back", "upsertEntry", {"entry": {"kind": "note", "id": "b1", "body": "First"}}),
    http("admin", "GET /admin/backups?project=back"),
    http("admin", "POST /admin/backups", {"project": "back", "mode": "full"}),
    http("admin", "WAIT /admin/backups?project=back", backup1="items.0.id"),
    api("writer", "back", "upsertEntry", {"entry": {"kind": "note", "id": "b2", "body": "Second"}}),
    api("writer", "back", "patchEntry", {"id": "b1", "patch": {"body": {"text": "Changed"}}}),
    api("admin", "back", "backupStore"),
    http("admin", "WAIT /admin/backups?project=back", backup2="items.0.id"),
    http("admin", "POST /admin/backups/back/$backup1/verify", {}),
    http("admin", "POST /admin/backups/back/$backup2/verify", {}),
    http("admin", "POST /admin/backups/back/20010101T000000000000Z/verify", {}),
    http("admin", "POST /admin/backups/back/restore", {"id": "$backup1", "dryRun": True}),
    http("admin", "POST /admin/backups/back/restore", {"id": "$backup1"}),
    http("admin", "POST /admin/backups/back/restore", {"id": "20010101T000000000000Z"}),
    http("admin", "POST /admin/backups/back/restore", {}),
    http("admin", "POST /admin/backups/back/restore", {"at": "2001-01-01T00:00:00Z"}),
    http("admin", "POST /admin/backups/absent/restore", {"id": "$backup1"}),
    api("reader", "back", "listEntries", {"include": "full", "sort": "title"}),
    http("admin", "GET /admin/history?project=back&id=b1"),
    http("admin", "GET /admin/history?project=back&id=b1&full=true&limit=1"),
    http("admin", "GET /admin/history?project=back&id=nobody"),
    http("admin", "GET /admin/backups"),
    http("admin", "POST /admin/backups/prune", {"project": "back", "keep": 1, "dryRun": True}),
    http("admin", "POST /admin/backups/prune", {"project": "back", "keep": 1}),
    http("admin", "POST /admin/backups/prune", {"project": "back", "keep": 0}),
    http("admin", "GET /admin/backups?project=absent"),
    http(
        "admin",
        "PUT /admin/backups/schedule",
        {"cadence": "0 3 29 2 *", "timeZone": "UTC", "mode": "full", "keep": 7},
    ),
    http(
        "admin",
        "PUT /admin/backups/schedule",
        {"cadence": "often", "timeZone": "UTC", "mode": "full", "keep": 7},
    ),
    http(
        "admin",
        "PUT /admin/backups/schedule",
        {"cadence": "", "timeZone": "UTC", "mode": "full", "keep": 7},
    ),
    http("curator", "POST /admin/backups", {"project": "back"}),
]

RECORDS: Script = [
    http("admin", "GET /admin/audit?size=5"),
    http("admin", "GET /admin/audit?project=back"),
    http("admin", "GET /admin/audit?user=writer&command=patchEntry&size=3"),
    http("admin", "GET /admin/audit?size=0"),
    http("admin", "GET /admin/audit/verify"),
    http("admin", "GET /admin/logs?size=1&text=stopped"),
    shape_of(http("admin", "GET /admin/logs?size=2")),
    http("admin", "GET /admin/logs?level=loud"),
    http("writer", "GET /admin/audit"),
    http("writer", "GET /admin/series"),
    shape_of(http("admin", "GET /admin/series")),
]

REFUSED: Script = [
    *[
        http("writer", f"GET /admin/{path}")
        for path in ("conflicts", "held", "keys", "projects", "audit/verify")
    ],
    http("writer", "POST /admin/config/validate", {"text": ""}),
]

ADMIN: Script = [*SESSIONS, *USERS, *PROJECTS, *CONFIG, *TRANSFER, *BACKUPS, *RECORDS, *REFUSED]
