"""Commands of the toolset system over HTTP: edits by hand, problems, erasure, indexes, sync."""

from tools.wire.steps import Script, api, edit, http

P = "sys"
GOOD = '{"kind": "note", "body": {"text": "A line by hand"}, "id": "by-hand"}'
BAD = '{"kind": "note", "body": {"text": "torn'

STORE: Script = [
    api(
        "writer",
        P,
        "bulkImport",
        {"entries": [{"kind": "note", "id": f"n{n:02}", "body": f"Number {n}"} for n in range(14)]},
    ),
    api(
        "writer", P, "upsertEntry", {"entry": {"kind": "note", "id": "leak", "body": "s3cret text"}}
    ),
    api("writer", P, "patchEntry", {"id": "leak", "patch": {"body": {"text": "still s3cret"}}}),
    api("writer", P, "linkEntries", {"sourceId": "n00", "targetId": "n01"}),
]

BY_HAND: Script = [
    edit(P, "adds a good line and a bad one", append=[GOOD, BAD, '{"kind": "dream"}']),
    api("admin", P, "reloadStore"),
    api("admin", P, "reloadStore"),
    api("curator", P, "reloadStore"),
    api("admin", P, "listProblems"),
    api("writer", P, "listProblems"),
    http("admin", "GET /admin/stores/problems"),
    http("writer", "GET /admin/stores/problems"),
    http("admin", "GET /admin/problems"),
    http("admin", "GET /admin/problems?project=sys"),
    http("admin", "GET /admin/problems/sys/17", badVersion="version"),
    http("admin", "GET /admin/problems/sys/1"),
    http("admin", "PUT /admin/problems/sys", {"line": 17, "ifVersion": "0123456789abcdef"}),
    http(
        "admin",
        "PUT /admin/problems/sys",
        {
            "line": 17,
            "ifVersion": "$badVersion",
            "text": '{"kind": "note", "id": "mended", "body": {"text": "mended"}}',
        },
    ),
    http("writer", "GET /admin/problems"),
    edit(P, "changes an entry that the server changes, too", replace={"Number 3": "Number three"}),
    api("writer", P, "patchEntry", {"id": "n03", "patch": {"tags": ["server"]}}),
    api("admin", P, "reloadStore"),
    api("admin", P, "listConflicts"),
    http("admin", "GET /admin/stores/conflicts"),
    http("writer", "GET /admin/stores/conflicts"),
    http("admin", "GET /admin/conflicts"),
    http("admin", "GET /admin/conflicts?project=sys"),
    api("writer", P, "listConflicts"),
    api("admin", P, "dismissConflicts", {"ids": ["sys:nobody"]}),
    api("admin", P, "dismissConflicts"),
    api("curator", P, "dismissConflicts"),
    api("admin", P, "verifyStore"),
    api("reader", P, "verifyStore"),
]


def held(project: str) -> Script:
    """Return an edit that takes most lines out of a project, and is held."""
    entries = [{"kind": "note", "id": f"n{n:02}", "body": f"Number {n}"} for n in range(14)]
    return [
        api("writer", project, "bulkImport", {"entries": entries}),
        edit(project, "takes most lines out", drop=["Number"]),
        api("admin", project, "reloadStore"),
    ]


HELD: Script = [
    http("admin", "GET /admin/held"),
    *held("held1"),
    http("admin", "GET /admin/held"),
    api("reader", "held1", "health"),
    api("writer", "held1", "rejectHeld"),
    api("admin", "held1", "rejectHeld"),
    api("admin", "held1", "rejectHeld"),
    *held("held2"),
    http("admin", "POST /admin/held/held2", {"decision": "maybe"}),
    http("admin", "POST /admin/held/held2", {"decision": "reject"}),
    http("admin", "POST /admin/held/held2", {"decision": "reject"}),
    *held("held3"),
    api("admin", "held3", "acceptHeld"),
    api("admin", "held3", "acceptHeld"),
    api("reader", "held3", "archiveStats"),
    api("reader", "held3", "listEntries", {"sort": "title", "include": "ids"}),
]

ERASE: Script = [
    api("admin", P, "eraseEntry", {"id": "leak", "dryRun": True}),
    api("curator", P, "eraseEntry", {"id": "leak"}),
    api("admin", P, "eraseEntry", {"id": "leak"}),
    api("admin", P, "eraseEntry", {"id": "leak"}),
    api("admin", P, "eraseEntry", {}),
    api("admin", P, "rebuildIndexes"),
    api("admin", P, "rebuildIndexes", {"vectors": True}),
    api("writer", P, "rebuildIndexes"),
]

SYNC: Script = [
    api("admin", P, "syncState"),
    api("admin", P, "syncState", {"after": "sys:by-hand"}),
    api("writer", P, "syncState"),
    api("admin", P, "syncRead", {"ids": ["sys:by-hand", "sys:n05", "sys:nobody"]}),
    api("admin", P, "syncRead", {"ids": 7}),
    api(
        "admin",
        P,
        "syncApply",
        {"changes": [{"id": "sys:by-hand", "kind": "remove", "expected": "0123456789abcdef"}]},
    ),
    api("admin", P, "syncApply", {"changes": [{"id": "sys:by-hand", "kind": "explode"}]}),
    api("curator", P, "syncApply", {"changes": []}),
    api("admin", P, "syncBase", {"peer": "0" * 31 + "1"}),
    api("admin", P, "syncBase", {"peer": "short"}),
]

CARE: Script = [
    http("admin", f"POST /admin/stores/{P}/{command}", {})
    for command in (
        "stats", "listArchive", "archiveStats", "reloadStore", "acceptHeld", "rejectHeld",
        "listProblems", "listConflicts", "dismissConflicts", "verifyStore", "syncState",
        "rebuildIndexes", "history", "restoreEntry", "purgeArchive", "eraseEntry", "syncRead",
        "syncApply", "syncBase", "getEntry",
    )
]  # fmt: skip

SYSTEM: Script = [
    *STORE,
    *BY_HAND,
    *HELD,
    *ERASE,
    *SYNC,
    *CARE,
    http("admin", f"POST /admin/stores/{P}/history", {"id": "by-hand"}),
    http("reader", f"POST /admin/stores/{P}/stats", {}),
    http("reader", f"POST /admin/stores/{P}/verifyStore", {}),
    http("admin", "POST /admin/stores/closed/stats", {}),
    http("", f"POST /admin/stores/{P}/stats", {}),
]
