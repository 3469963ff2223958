"""Claude Code's hooks: programs that it calls when a session begins and when it is about to end."""

import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from qms.cli.clients import claude_folder, installed_program, unreadable
from qms.cli.commented_json import put, read_object

HOOK = "hook"
SESSION_START, STOP = "session-start", "stop"

_EVENTS = {"SessionStart": SESSION_START, "Stop": STOP}
_TIMEOUT_S = 20

Hooks = dict[str, list[Any]]


def hooks_file() -> Path:
    """Return where Claude Code keeps its hooks."""
    return (claude_folder() or Path.home() / ".claude") / "settings.json"


def with_hooks(text: str, root: Path, project: str) -> str:
    """Return Claude Code's settings with our hooks in them, once, and all else as it was.

    Raises:
        InvalidInputError: the file is not what Claude Code reads.
    """
    try:
        for event, verb in _EVENTS.items():
            others = [one for one in _hooks_of(text, event) if not _is_ours(one)]
            text = put(text, ("hooks", event), [*others, _hook(verb, root, project)])
    except ValueError as error:
        raise unreadable(hooks_file(), error) from None
    return text


def _hooks_of(text: str, event: str) -> list[Any]:
    hooks = read_object(text).get("hooks", {})
    found = hooks.get(event, []) if isinstance(hooks, dict) else []
    if not isinstance(found, list):
        raise ValueError(f"{event} of its hooks is no list")
    return found


def _hook(verb: str, root: Path, project: str) -> dict[str, Any]:
    words = [installed_program("memoryctl"), HOOK, verb, "--root", str(root), "--project", project]
    line = subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)
    return {"hooks": [{"type": "command", "command": line, "timeout": _TIMEOUT_S}]}


def _is_ours(group: Any) -> bool:
    try:
        return bool(group["hooks"]) and all(
            "memoryctl" in one["command"] and f" {HOOK} " in one["command"]
            for one in group["hooks"]
        )
    except (KeyError, TypeError):
        return False
