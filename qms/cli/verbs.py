"""The verbs of `memoryctl` in groups: where each is, and a short line that says what it does."""

from qms.cli.lazy_group import Declared

GROUPS: dict[str, Declared] = {
    "Memories": {
        "remember": ("remember.remember", "Store a memory; - reads standard input."),
        "search": ("search.search", "Find memories by keyword and meaning."),
        "recall": ("search.recall", "Find memories for a context, and count the use."),
        "list": ("lists.list_entries", "List memories, last updated first."),
        "get": ("get.get", "Show one memory."),
        "edit": ("edit.edit", "Open a memory in your editor."),
        "update": ("update.update", "Change some fields of a memory."),
        "delete": ("delete.delete", "Move memories to the archive."),
        "forget": ("forget.forget", "Archive memories by words, filter or author."),
        "restore": ("restore.restore", "Bring back an archived or older version."),
        "history": ("history.history", "List the versions of a memory."),
        "promote": ("promote.promote", "Extend the retention of a memory."),
        "link": ("link.link", "Add a relation from one memory to another."),
        "unlink": ("link.unlink", "Remove relations between two memories."),
        "move": ("move.move", "Move a memory to another project."),
        "copy": ("move.copy", "Copy a memory to another project."),
        "documents": ("documents.documents", "Add, sync, list, show and remove documents."),
        "import": ("imports.import_memories", "Import a file, a folder or an archive."),
        "export": ("export.export", "Export the memories of a project."),
        "mine": ("mine.mine", "Extract memories from exported chats."),
        "stats": ("stats.stats", "Count memories by kind, retention and tier."),
        "namespaces": ("stats.namespaces", "List namespaces, largest first."),
        "shell": ("shell.shell", "Open an interactive shell."),
    },
    "Projects and people": {
        "projects": ("projects.projects", "List, add, change and remove projects."),
        "users": ("users.users", "List, add, change and remove users."),
        "keys": ("keys.keys", "Create, list and revoke API keys."),
        "permissions": ("permissions.permissions", "List and change rights in a project."),
        "connect": ("connect.connect", "Connect an agent: key, settings, test."),
        "sync": ("sync.sync_projects", "Sync a project with another root or server."),
    },
    "Care": {
        "doctor": ("doctor.doctor", "Check for common problems and fix them."),
        "backup": ("backups.backup", "Create a backup."),
        "backups": ("backups.backups", "List, verify, restore and prune backups."),
        "archive": ("archive.archive", "List, restore and purge archived memories."),
        "erase": ("erase.erase", "Erase a memory from all files and backups."),
        "duplicates": ("consolidate.duplicates", "Find memories with nearly the same meaning."),
        "contradictions": (
            "consolidate.contradictions",
            "List memories that contradict each other.",
        ),
        "detect-contradiction": (
            "assist.detect_contradiction",
            "Check whether two memories contradict.",
        ),
        "resolve": ("consolidate.resolve", "Resolve a contradiction."),
        "consolidate": ("consolidate.consolidate", "Merge memories into one."),
        "auto-consolidate": (
            "consolidate.auto_consolidate",
            "Merge memories that share a tag or are similar.",
        ),
        "proposals": ("proposals.proposals", "Accept or dismiss proposals of a language model."),
        "auto-tag": ("assist.auto_tag", "Add tags that fit the text of a memory."),
        "gc": ("gc.gc", "Archive expired memories now."),
        "stores": ("stores.stores", "Check, reload and decide about store files."),
        "rebuild": ("rebuild.rebuild", "Rebuild the indexes of projects."),
        "audit": ("audit.audit", "Show and verify the audit log."),
    },
    "Server": {
        "init": ("init.init", "Create a root and a key for memoryctl."),
        "open": ("open_page.open_page", "Open the admin page, signed in."),
        "status": ("status.status", "Show the health of the server or root."),
        "logs": ("logs.logs", "Show the latest lines of the log."),
        "config": ("config.config", "Check and show the configuration."),
        "capabilities": ("assist.capabilities", "Show the models and toolsets in use."),
        "expand-query": ("assist.expand_query", "Suggest more search terms for a query."),
        "call": ("call.call", "Send any command of the API by its name."),
        "hook": ("hook.hook", "Run a hook of a client."),
        "support-bundle": ("support_bundle.support_bundle", "Collect diagnostics in a zip file."),
        "verify-install": (
            "verify_install.verify_install",
            "Compare the installed files with their hashes.",
        ),
        "completion": ("completion.completion", "Print the completion script of a shell."),
        "man": ("completion.man", "Print the manual page."),
    },
}
"""The groups of the help, and their verbs in the order that it lists them."""

VERBS: Declared = {name: verb for group in GROUPS.values() for name, verb in group.items()}
