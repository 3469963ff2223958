"""`memoryctl hook`, and the hooks that `memoryctl connect` sets up for Claude Code."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from qms.cli.hook import LEAST_LINES, REMINDER
from tests.cli.conftest import Terminal
from tests.support.environment import Environment


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, environment: Environment) -> Path:
    """Where Claude Code keeps its hooks."""
    environment["HOME"] = str(tmp_path)
    environment.pop("CLAUDE_CONFIG_DIR", None)
    return tmp_path / ".claude" / "settings.json"


def commands(settings: Path, event: str) -> list[list[str]]:
    hooks = json.loads(settings.read_text(encoding="utf-8"))["hooks"][event]
    return [shlex.split(one["command"]) for group in hooks for one in group["hooks"]]


def test_hooks_are_written_once_beside_those_that_are_there(
    files: Terminal, settings: Path
) -> None:
    mine: dict[str, Any] = {"hooks": [{"type": "command", "command": "say done"}]}
    settings.parent.mkdir()
    before = {"model": "m", "hooks": {"Stop": [mine], "PreToolUse": [mine]}}
    settings.write_text(json.dumps(before), encoding="utf-8")

    first = files.ok("connect", "claude-code", "--write", "--json").json["hooks"]
    files.ok("connect", "claude-code", "--write")

    after = json.loads(settings.read_text(encoding="utf-8"))
    assert (after["model"], after["hooks"]["PreToolUse"]) == ("m", [mine])
    assert json.loads(Path(first["backup"]).read_text(encoding="utf-8")) == before
    own, ours = commands(settings, "Stop")
    assert own == ["say", "done"]
    assert ours[1:] == ["hook", "stop", "--root", str(files.root), "--project", "default"]
    assert len(commands(settings, "SessionStart")) == 1


def test_hooks_are_printed_and_can_be_left_out(files: Terminal, settings: Path) -> None:
    shown = files.ok("connect", "claude-code")
    without = files.ok("connect", "claude-code", "--no-hooks", "--write")

    assert "hook session-start" in shown.out
    assert str(settings) in shown.err
    assert "hook session-start" not in without.out
    assert not settings.exists()


def test_hooks_for_a_file_with_comments_are_printed(files: Terminal, settings: Path) -> None:
    text = '{\n  // mine\n  "model": "m"\n}\n'
    settings.parent.mkdir()
    settings.write_text(text, encoding="utf-8")

    done = files("connect", "claude-code", "--write")

    assert done.code == 5
    assert settings.read_text(encoding="utf-8") == text
    assert "hook session-start" in done.out
    assert f"{settings}: not changed" in done.err


@pytest.mark.parametrize(
    "text", ["{", '{"hooks": []}', '{"hooks": {"Stop": null}}', '{"hooks": {"Stop": {}}}']
)
def test_hooks_in_a_file_that_nobody_reads_cost_neither_key_nor_file(
    files: Terminal, settings: Path, text: str
) -> None:
    settings.parent.mkdir()
    settings.write_text(text, encoding="utf-8")

    done = files("connect", "claude-code", "--write")

    assert done.code == 2
    assert str(settings) in done.err
    assert len(files.ok("keys", "list", "--json").json["items"]) == 1
    assert not (settings.parents[1] / ".claude.json").exists()


def test_a_session_begins_with_what_is_known(ctl: Terminal) -> None:
    ctl.remember("Ask Ada before touching the parser", "--pinned")

    told = ctl.ok("hook", "session-start").out

    assert "Pinned:\n- Ask Ada before touching the parser [default:" in told
    assert "`remember`" in told


def test_a_hook_never_stops_the_work(files: Terminal, tmp_path: Path) -> None:
    nowhere = str(tmp_path / "nowhere")

    nothing = files.ok("hook", "session-start", "--root", nowhere, typed=b"no JSON")

    assert nothing.out == ""
    assert "no memories loaded" in nothing.err
    assert files.ok("hook", "stop", typed=b"").out == ""


def test_an_agent_is_reminded_once_and_only_in_a_session_of_some_length(
    files: Terminal, tmp_path: Path
) -> None:
    transcript = tmp_path / "session.jsonl"

    def stopped(text: str, **more: Any) -> str:
        transcript.write_text(text, encoding="utf-8")
        event = json.dumps({"transcript_path": str(transcript), **more})
        return files.ok("hook", "stop", typed=event.encode()).out

    long = '{"type":"user"}\n' * LEAST_LINES

    assert json.loads(stopped(long)) == {"decision": "block", "reason": REMINDER}
    assert stopped(long, stop_hook_active=True) == ""
    assert stopped(f"{long}{json.dumps(REMINDER)}\n") == ""
    assert stopped('{"type":"user"}\n') == ""
