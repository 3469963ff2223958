"""The verbs of `memoryctl`: where each is, and the first line of its help."""

from qms.cli.lazy_group import Declared

VERBS: Declared = {
    "get": ("get.get", "Show one memory, by its id."),
    "list": ("lists.list_entries", "List memories, most recently updated first."),
    "search": ("search.search", "Find memories by keyword and meaning, best first."),
    "remember": ("remember.remember", "Store a memory; - reads the text from standard input."),
    "recall": (
        "search.recall",
        "Find memories for a context; each result counts as used, which extends its retention.",
    ),
    "mine": (
        "mine.mine",
        "Extract facts, decisions, preferences, procedures and code from exported conversations.",
    ),
    "update": (
        "update.update",
        "Change some fields of a memory; tags and keywords are replaced, not added.",
    ),
    "delete": ("delete.delete", "Move memories to the archive."),
    "edit": ("edit.edit", "Open a memory in $VISUAL or $EDITOR and store the result."),
    "promote": ("promote.promote", "Extend the retention of a memory, by default forever."),
    "link": ("link.link", "Add a relation from one memory to another."),
    "unlink": ("link.unlink", "Remove the relations from one memory to another."),
    "consolidate": (
        "consolidate.consolidate",
        "Merge 2 to 100 memories into one; the sources go to the archive.",
    ),
    "auto-consolidate": (
        "consolidate.auto_consolidate",
        "Consolidate provisional memories that share their first tag, or are similar.",
    ),
    "contradictions": (
        "consolidate.contradictions",
        "List pairs of memories that contradict each other, by relation or by rule.",
    ),
    "resolve": (
        "consolidate.resolve",
        "Resolve a contradiction: WINNER supersedes LOSER, which ranks lower from then on.",
    ),
    "duplicates": (
        "consolidate.duplicates",
        "Find pairs of memories with nearly the same meaning.",
    ),
    "expand-query": ("assist.expand_query", "Suggest more search terms for a query."),
    "auto-tag": ("assist.auto_tag", "Add tags that fit the text of a memory; its own tags stay."),
    "detect-contradiction": (
        "assist.detect_contradiction",
        "Check whether two memories contradict each other; nothing is changed.",
    ),
    "capabilities": (
        "assist.capabilities",
        "Show the models in use and the toolsets that the project allows.",
    ),
    "call": (
        "call.call",
        "Send a command by its name in the API and print the answer; a value may be JSON.",
    ),
    "move": ("move.move", "Move a memory to another project; relations to it are updated."),
    "copy": ("move.copy", "Copy a memory to another project."),
    "history": (
        "history.history",
        "List the versions of a memory in store, archive and backups, newest first.",
    ),
    "restore": (
        "restore.restore",
        "Restore a memory: the last archived version, or any version listed by history.",
    ),
    "forget": (
        "forget.forget",
        "Move memories to the archive by words, filter or author; --undo restores them.",
    ),
    "erase": (
        "erase.erase",
        "Erase a memory from all files, including backups; meant for leaked secrets.",
    ),
    "archive": (
        "archive.archive",
        "Manage archived memories: expired, deleted, forgotten, consolidated or moved.",
    ),
    "proposals": (
        "proposals.proposals",
        "List, accept and dismiss tags and contradictions proposed by a language model.",
    ),
    "gc": ("gc.gc", "Archive expired memories now; the server does it every few minutes."),
    "stats": ("stats.stats", "Count memories by retention, kind, curation tier and namespace."),
    "namespaces": (
        "stats.namespaces",
        "List the namespaces with their number of memories, largest first.",
    ),
    "backup": ("backups.backup", "Create a backup; the first one of a project is always full."),
    "backups": ("backups.backups", "List, verify, restore and prune backups."),
    "sync": (
        "sync.sync_projects",
        "Sync a project with the same project of another root or server; nothing is lost.",
    ),
    "import": (
        "imports.import_memories",
        "Import the memories of a file, folder or archive; existing memories are not changed.",
    ),
    "export": ("export.export", "Export the memories of a project, all or filtered, oldest first."),
    "documents": (
        "documents.documents",
        "Add, sync, list, show and remove documents; the project must allow `documents`.",
    ),
    "connect": (
        "connect.connect",
        "Connect a client: create and test a key, print or write its settings and instructions.",
    ),
    "hook": (
        "hook.hook",
        "Commands for client hooks; `memoryctl connect claude-code` sets them up.",
    ),
    "init": (
        "init.init",
        "Create a root, and a key in it that memoryctl uses; an existing root is not changed.",
    ),
    "status": (
        "status.status",
        "Show the health of the server or root; exit code 6 if it is unhealthy.",
    ),
    "doctor": (
        "doctor.doctor",
        "Check for common problems and show how to fix them; exit code 6 if there is an error.",
    ),
    "verify-install": (
        "verify_install.verify_install",
        "Compare the installed files with layout.json and list differences; exit code 1 if any.",
    ),
    "logs": ("logs.logs", "Show the latest lines of the server's log, newest last."),
    "support-bundle": (
        "support_bundle.support_bundle",
        "Collect diagnostics in a zip file: versions, health, checks, settings, log; no secrets.",
    ),
    "config": ("config.config", "Check and show the configuration file."),
    "stores": (
        "stores.stores",
        "Check and reload the files of the named projects, or of all projects you can access.",
    ),
    "projects": ("projects.projects", "Manage projects; each is an endpoint with its own store."),
    "users": ("users.users", "Manage users; for their tiers in projects see `permissions`."),
    "rebuild": (
        "rebuild.rebuild",
        "Rebuild the indexes of the named projects, or of all; search stays available.",
    ),
    "keys": (
        "keys.keys",
        "Create, list and revoke API keys; a key is shown only once, when it is created.",
    ),
    "permissions": (
        "permissions.permissions",
        "List and change the permissions of users in a project.",
    ),
    "audit": (
        "audit.audit",
        "Show and verify the audit log; each record carries the hash of the one before it.",
    ),
    "shell": (
        "shell.shell",
        "Open an interactive shell: recall, search, list, get, stats, delete; try help.",
    ),
    "completion": (
        "completion.completion",
        "Print the completion script of a shell, for its startup file.",
    ),
    "man": ("completion.man", "Print the manual page, for `man -l` or a man directory."),
}
