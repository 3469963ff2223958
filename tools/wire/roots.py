"""The roots of a recording: their configuration, and the files that a script imports."""

from pathlib import Path

from tools.wire.exchange import key_of
from tools.wire.steps import USERS

TOOLSETS = ("core", "lifecycle", "documents", "system", "aiMemory", "serverMemory")
PROJECTS = (
    "shared", "default", "projA", "life", "life2", "sys", "docs", "dropin", "aimem", "chat", "text",
    "back", "held1", "held2", "held3",
)  # fmt: skip
"""Projects of the server in which all toolsets are allowed; most scripts have one of their own."""

SERVED = ("main", "second", "third")
"""Roots that have a server for a while."""

PLAIN = """\
[global]
logLevel = "debug"
pollSeconds = 3600
debounceMilliseconds = 60000

[global.embedding]
model = "hash"

[global.backup]
cadence = ""

[global.limits]
bulkEntries = 20
titleBytes = 80

[global.rate]
requestsPerMinute = 0

"""
"""The hash embedder is quick; edits by hand are read when a step asks for it, not when noticed."""


def configuration() -> str:
    """Return the configuration of the server: a user a tier; open, closed and small projects."""
    names = ", ".join(f'"{name}"' for name in TOOLSETS)
    parts = [PLAIN]
    parts += [
        f'[endpoint.{project}]\nslug = "{project}"\ntoolsets = [{names}]\n' for project in PROJECTS
    ]
    parts.append(
        '[endpoint.closed]\nslug = "closed"\nprivate = true\n'
        '[endpoint.small]\nslug = "small"\nmaxEntries = 1\nsecrets = "refuse"\n'
        '[endpoint.bare]\nslug = "bare"\ntoolsets = ["core"]\nincludeShared = false\n'
        'secrets = "redact"\n'
    )
    parts += [f'[users.{user}]\ntier = "{user}"\napiKey = "{key_of(user)}"\n' for user in USERS]
    return "\n".join(parts)


def files_configuration() -> str:
    """Return the configuration of a root on whose files memoryctl works."""
    parts = [PLAIN]
    parts += [f'[endpoint.{one}]\nslug = "{one}"\n' for one in ("shared", "default", "other")]
    parts.append('[endpoint.docs]\nslug = "docs"\ntoolsets = ["core", "documents"]\n')
    parts.append(f'[users.admin]\ntier = "admin"\napiKey = "{key_of("admin")}"\n')
    return "\n".join(parts)


IMPORTED: dict[str, str] = {
    "in/table.csv": "id,title,text,tags,colour\nrow-1,One,First,a;b,red\nrow-2,Two,Second,,blue\n",
    "in/broken.jsonl": (
        '{"kind": "note", "id": "whole", "title": "Whole", "body": {"text": "Whole"}}\n'
        '{"kind": "note", "body": {"te\n'
        '{"kind": "dream", "id": "dream", "body": {"text": "x"}}\n'
    ),
    "in/entries.json": (
        '[{"kind": "fact", "id": "json-1", "title": "J", "body": {"statement": "From JSON"},'
        ' "relations": [{"type": "ref", "targetId": "row-1"}]}]'
    ),
    "in/vault/One.md": "---\ntitle: One note\ntags: [x, y]\n---\nText with [[Two]] in it\n",
    "in/vault/Two.md": "# Two\n\n- [method] Grind fresh #coffee\n- part_of [[One note]]\n",
    "in/memory.jsonl": (
        '{"type":"entity","name":"Ada","entityType":"person","observations":["Wrote"]}\n'
        '{"type":"relation","from":"Ada","to":"Bob","relationType":"knows"}\n'
    ),
    "in/ai-memory.json": (
        '{"memories": [{"id": "m1", "title": "T", "content": "C", "tier": "long",'
        ' "namespace": "global", "created_at": "2001-01-01T00:00:00Z",'
        ' "updated_at": "2001-01-01T00:00:00Z"}, {"id": "m2", "title": "Over", "content": "C",'
        ' "tier": "short", "expires_at": "2001-01-02T00:00:00Z"}], "links": [], "count": 2}'
    ),
    "in/claude.json": (
        '[{"uuid": "talk-1", "name": "Talk", "created_at": "2001-01-01T00:00:00Z",'
        ' "updated_at": "2001-01-01T00:00:00Z", "chat_messages": ['
        '{"uuid": "u1", "sender": "human", "created_at": "2001-01-01T00:00:00Z",'
        ' "text": "We decided to use TOML because comments survive. I prefer short answers."},'
        '{"uuid": "u2", "sender": "assistant", "created_at": "2001-01-01T00:00:01Z",'
        ' "text": "The server listens on port 5080."}]}]'
    ),
    "in/broken.toml": "[global\n",
    "in/harbour.md": "# Harbour\n\nThe ferry leaves at noon.\n\n# Crane\n\nIt lifts nine tons.\n",
    "in/empty.txt": "\n",
    "in/papers/crane.md": "# Crane\n\nIt lifts nine tons.\n",
    "in/papers/mill/mill.txt": "The mill grinds at night.\n",
    "in/papers/picture.bin": "not taken\n",
}
"""Files that scripts import, by their name in the folder where memoryctl is called."""


def lay_out(folder: Path) -> dict[str, Path]:
    """Make the roots and the files below a folder, and return the roots by name."""
    roots = {}
    for name in (*SERVED, "files", "left", "peer", "piped"):
        roots[name] = folder / name
        roots[name].mkdir(mode=0o700)
        text = configuration() if name in SERVED else files_configuration()
        toml = roots[name] / "QuickMemoryServer.toml"
        toml.write_text(text, encoding="utf-8")
        toml.chmod(0o600)
    roots |= {name: folder / name for name in ("fresh", "absent")}
    home = folder / "home"
    home.mkdir()
    for name, text in IMPORTED.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text, encoding="utf-8")
    return roots
