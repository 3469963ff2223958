"""Hooks of Claude Code: the programs that it calls when a session starts and stops."""

import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from qms.cli.client_json import put, read_object
from qms.cli.clients import claude_folder, installed_program, unreadable
from qms.cli.hook import SESSION_START, STOP

HOOK = "hook"

_EVENTS = {"SessionStart": SESSION_START, "Stop": STOP}
_TIMEOUT_S = 20

Hooks = dict[str, list[Any]]


def hooks_file() -> Path:
    """Return the file in which Claude Code keeps its hooks."""
    return (claude_folder() or Path.home() / ".claude") / "settings.json"


def with_hooks(text: str, root: Path, project: str) -> str:
    """Return Claude Code's settings with our hooks added or replaced; the rest is unchanged.

    Raises:
        InvalidInputError: the file is not valid.
    """
    try:
        for event, verb in _EVENTS.items():
            others = [one for one in _hooks_of(text, event) if not _is_ours(one)]
            text = put(text, ("hooks", event), [*others, _hook(verb, root, project)])
    except ValueError as error:
        raise unreadable(hooks_file(), error) from None
    return text


def failure(root: Path, project: str) -> str | None:
    """Run the hook of a session's start as the client would; return why it does not work."""
    words = _words(SESSION_START, root, project)
    try:
        done = subprocess.run(  # noqa: S603 - our own program, without a shell
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=_TIMEOUT_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0 and done.stdout.strip():
        return None
    return done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "it prints nothing"


def _hooks_of(text: str, event: str) -> list[Any]:
    hooks = read_object(text).get("hooks", {})
    found = hooks.get(event, []) if isinstance(hooks, dict) else []
    if not isinstance(found, list):
        raise ValueError(f"hooks.{event} is not a list")
    return found


def _words(verb: str, root: Path, project: str) -> list[str]:
    return [installed_program("memoryctl"), HOOK, verb, "--root", str(root), "--project", project]


def _hook(verb: str, root: Path, project: str) -> dict[str, Any]:
    words = _words(verb, root, project)
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
