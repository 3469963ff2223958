"""Verbs of memoryctl on the files of roots, and the program qms."""

from tools.wire.steps import Script, ctl_files, qms

F = "files"

MEMORIES: Script = [
    ctl_files("fresh", "init"),
    ctl_files("fresh", "init"),
    ctl_files("absent", "list"),
    ctl_files(F, 'remember "The train leaves on Friday" --kind fact --id train --tag release'),
    ctl_files(F, 'remember "The train leaves on Friday" --kind fact --id train --json'),
    ctl_files(F, "remember x --kind dream"),
    ctl_files(F, 'remember "Pinned" --pinned --permanent --curation-tier canonical --id pinned'),
    ctl_files(F, "get train"),
    ctl_files(F, "get nobody"),
    ctl_files(F, "list --sort title"),
    ctl_files(F, "list --sort title --json"),
    ctl_files(F, "search train"),
    ctl_files(F, "recall train"),
    ctl_files(F, "update train --title Train --tag release --tag weekly"),
    ctl_files(F, "update train --title x --if-version 0123456789abcdef"),
    ctl_files(F, "copy train other"),
    ctl_files(F, "copy train absent"),
    ctl_files(F, "move pinned other --yes"),
    ctl_files(F, "delete train --yes"),
    ctl_files(F, "delete train --yes"),
    ctl_files(F, "archive list"),
    ctl_files(F, "history train"),
    ctl_files(F, "restore train"),
    ctl_files(F, "link train other:train"),
    ctl_files(F, "stats"),
    ctl_files(F, "edit train"),
    ctl_files(F, "forget --tag weekly --yes --json", filesUndo="undoId"),
    ctl_files(F, "forget --undo $filesUndo --yes"),
    ctl_files(F, "stores verify"),
    ctl_files(F, "stores problems default"),
    ctl_files(F, "audit verify"),
    ctl_files(F, "audit tail --limit 2 --json"),
    ctl_files(F, "status"),
    ctl_files(F, "users list"),
    ctl_files(F, "projects list"),
    ctl_files(F, "config validate"),
    ctl_files(F, "logs --limit 2"),
    ctl_files(F, "rebuild default"),
    ctl_files(F, "shell", "list\nget train\nquit\n"),
]

TRANSFER: Script = [
    *[
        ctl_files(F, f"import {name}", project="other")
        for name in (
            "in/table.csv",
            "in/broken.jsonl",
            "in/entries.json",
            "in/vault",
            "in/memory.jsonl",
            "in/ai-memory.json",
        )
    ],
    ctl_files(F, "import in/table.csv --map colour=title --dry-run", project="other"),
    ctl_files(F, "export --format jsonl --output out.jsonl", project="other"),
    ctl_files(F, "import out.jsonl --exact", project="other"),
    ctl_files(F, "import out.jsonl --exact --json", project="shared"),
    ctl_files(F, "list --include ids --sort title --limit 100", project="other"),
    ctl_files(F, "export --format csv --kind fact", project="other"),
    ctl_files(F, "mine in/claude.json --format claude --min-messages 1", project="shared"),
    ctl_files(F, "backup default --mode full --wait"),
    ctl_files(F, 'remember "After the backup" --id after'),
    ctl_files(F, "backup default --wait"),
    ctl_files(F, "backups list --json", filesBackup="items.1.id"),
    ctl_files(F, "backups list"),
    ctl_files(F, "backups verify"),
    ctl_files(F, "backups restore default --id $filesBackup --dry-run"),
    ctl_files(F, "backups restore default --id $filesBackup --yes"),
    ctl_files(F, "backups restore default --id nonsense --yes"),
    ctl_files(F, "list --include ids --sort title"),
    ctl_files(F, "erase after --dry-run"),
    ctl_files(F, "erase after --yes"),
    ctl_files(F, "backups verify"),
    ctl_files(F, "backups prune --keep 1 --yes"),
    ctl_files(F, "keys create admin --label second"),
    ctl_files(F, "keys create nobody"),
]

DOCUMENTS: Script = [
    ctl_files(F, "documents add in/harbour.md --id harbour", project="docs"),
    ctl_files(F, "documents add in/harbour.md --id harbour", project="other"),
    ctl_files(F, "documents sync in/papers", project="docs"),
    ctl_files(F, "documents list", project="docs"),
    ctl_files(F, "documents show harbour --full", project="docs"),
    ctl_files(F, "documents remove harbour --yes", project="docs"),
    ctl_files(F, "call getEntry id=train"),
    ctl_files(F, "call getEntry id=nobody"),
    ctl_files(F, "call listUsers"),
    ctl_files(F, "call noSuchCommand"),
]

PROGRAMS: Script = [
    ctl_files(F, "support-bundle --output bundle.zip"),
    ctl_files(F, "connect cursor --dry-run"),
    ctl_files("absent", "status"),
    ctl_files("absent", "doctor"),
    qms("--version"),
    qms("nonsense"),
    qms("serve --port 70000"),
    qms("serve --root /dev/null/nowhere"),
    qms("bridge"),
    qms("bridge --url http://127.0.0.1:1"),
    qms("demo --help"),
]

MEMORYCTL_FILES: Script = [*MEMORIES, *TRANSFER, *DOCUMENTS, *PROGRAMS]
