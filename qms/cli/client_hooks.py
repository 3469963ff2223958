"""Claude Code's hooks: programs that it calls when a session begins and when it is about to end."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from qms.cli.clients import installed_program, read_json, unreadable

HOOK = "hook"
SESSION_START, STOP = "session-start", "stop"

_EVENTS = {"SessionStart": SESSION_START, "Stop": STOP}
_TIMEOUT_S = 20

Hooks = dict[str, list[Any]]


def hooks_file() -> Path:
    """Return where Claude Code keeps its hooks."""
    folder = os.environ.get("CLAUDE_CONFIG_DIR")
    return (Path(folder) if folder else Path.home() / ".claude") / "settings.json"


def with_hooks(text: str, root: Path, project: str) -> str:
    """Return Claude Code's settings with our hooks in them, once, and all else as it was.

    Raises:
        InvalidInputError: the file is not plain JSON.
    """
    values = read_json(text)
    hooks = values.setdefault("hooks", {})
    if not isinstance(hooks, dict):
        raise unreadable("hooks is no object")
    for event, verb in _EVENTS.items():
        others = [one for one in hooks.get(event, []) if not _is_ours(one)]
        hooks[event] = [*others, _hook(verb, root, project)]
    return json.dumps(values, ensure_ascii=False, indent=2) + "\n"


def _hook(verb: str, root: Path, project: str) -> dict[str, Any]:
    words = [installed_program("memoryctl"), HOOK, verb, "--root", str(root), "--project", project]
    line = subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)
    return {"hooks": [{"type": "command", "command": line, "timeout": _TIMEOUT_S}]}


def _is_ours(group: Any) -> bool:
    try:
        return all(
            "memoryctl" in one["command"] and f" {HOOK} " in one["command"]
            for one in group["hooks"]
        )
    except (KeyError, TypeError):
        return False
