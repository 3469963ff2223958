"""Take the steps of a script through the doors of a server and of memoryctl; write them down."""

import json
import re
import shlex
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.wire import transcript
from tools.wire.exchange import Answer, ask, key_header, key_of, mcp_headers, mcp_message, parsed
from tools.wire.layout import laid_out
from tools.wire.programs import Ended, Program, Server
from tools.wire.stable import Placeholders, Sheet
from tools.wire.stdio import talk
from tools.wire.steps import Script, Step

SETTLE_LIMIT_S = 60
SETTLE_PAUSE_S = 0.01
STEP_PAUSE_S = 0.002
"""Between two steps: no two changes have the same millisecond, so that their order is certain."""

WAIT = "WAIT"
"""Instead of a method: GET, again and again until no job of the answer runs."""
RUNNING = {"queued", "waiting", "running"}

FOLDED = ("backup", "erase", "history", "restore", "undo")
"""Commands that answer in another way while a change is in the journal alone, or bring back what
was removed: its line has its old place when no fold came between."""

SEARCHED = ("search", "recall", "expand", "tag", "hook", "analyze")
"""Commands that ask the words of an index. Scores depend on whether a word is in its files yet, so
that the index is made anew before the first of several such steps."""

_SAVED = re.compile(r"\$\{?([a-zA-Z]\w*)\}?")


@dataclass
class Doors:
    """Everything that a step can reach, and what earlier steps saved."""

    server: Server | None
    """None while no server runs: scripts that work on files alone."""
    memoryctl: Program
    qms: Program
    roots: Mapping[str, Path]
    known: Placeholders
    usual: Mapping[str, str] = field(default_factory=dict)
    """Headers that every answer of the server has; a step tells of others only."""
    saved: dict[str, str] = field(default_factory=dict)
    _searched: bool = False

    def __post_init__(self) -> None:
        """Know the places that scripts name."""
        self.saved |= {f"{name}Root": str(path) for name, path in self.roots.items()}
        self.saved["folder"] = str(self.roots["main"].parent)
        if self.server is not None:
            self.saved["url"] = self.server.url

    def play(self, script: Script) -> str:
        """Take all steps in order and return what is written down of them."""
        sheet = self.known.sheet()
        parts = []
        for number, step in enumerate(script, 1):
            try:
                parts.append(self._taken(step, sheet))
            except Exception as error:
                error.add_note(f"in step {number}: {step.title}")
                raise
            time.sleep(STEP_PAUSE_S)
        return "\n".join(parts)

    def _taken(self, step: Step, sheet: Sheet) -> str:
        request = self._filled(step.request)
        lines = [f"=== {step.title}"]
        if step.request is not None:
            shown = step.request if isinstance(step.request, str) else laid_out(step.request)
            lines.append(f"--> {shown.rstrip()}")
        self._prepare(step)
        match step.door:
            case "ctl" | "qms":
                left = self._call(step)
                self._save(step, parsed(left.stdout), {})
                lines.extend(transcript.ended(left, sheet))
            case "stdio":
                lines.extend(transcript.talked(*self._talk(step), sheet))
            case "edit":
                self._edit(step.project, request)
            case "pause":
                time.sleep(request)
            case _:
                answer = self.send(step, request)
                self._save(step, answer.value, answer.headers)
                told = transcript.answered(answer, self.usual, sheet, shape_only=step.shape_only)
                lines.extend(told)
        return "\n".join(lines) + "\n"

    def _prepare(self, step: Step) -> None:
        """Bring the server into the one state in which the step always finds it."""
        words = f"{step.command} {step.note}".lower()
        searches = (
            not step.on_files and any(word in words for word in SEARCHED) and bool(self.server)
        )
        if searches and not self._searched:
            for project in {"shared", step.project or "default"}:
                self.ask_admin(f"/admin/stores/{project}/rebuildIndexes")
        self._searched = searches
        self.settle(folded=any(word in words for word in FOLDED))

    def send(self, step: Step, request: Any) -> Answer:
        """Send the request of a step and return the answer as it is."""
        headers = {**key_header(step.who), **self._filled(step.headers)}
        if step.door == "http":
            method, _, path = self._filled(step.command).partition(" ")
            if method == WAIT:
                return self._waited(path, headers)
            if request is None:
                return ask(self.port, method, path, headers)
            body = request if isinstance(request, str) else json.dumps(request)
            headers = {"Content-Type": "application/json", **headers}
            return ask(self.port, method, path, headers, body.encode())
        headers["Content-Type"] = "application/json"
        if step.door == "api":
            path = f"/api/v1/{step.project}/{step.command}"
            return ask(self.port, "POST", path, headers, json.dumps(request).encode())
        path = f"/mcp/{step.project}{step.query}"
        headers |= mcp_headers(step.command, request)
        message = json.dumps(mcp_message(step.command, request))
        return ask(self.port, "POST", path, headers, message.encode())

    @property
    def port(self) -> int:
        """Return the port of the server."""
        assert self.server is not None
        return self.server.port

    def _waited(self, path: str, headers: Mapping[str, str]) -> Answer:
        """Ask until no job runs any more."""
        until = time.monotonic() + SETTLE_LIMIT_S
        while time.monotonic() < until:
            answer = ask(self.port, "GET", path, headers)
            if not any(job["state"] in RUNNING for job in answer.value["jobs"]):
                return answer
            time.sleep(SETTLE_PAUSE_S)
        raise TimeoutError("a job did not end")

    def _call(self, step: Step) -> Ended:
        arguments = shlex.split(self._filled(step.command))
        if step.door == "qms":
            return self.qms.call(arguments)
        if step.project:
            arguments += ["--project", step.project]
        variables = {"QMS_PEER_KEY": key_of("admin")}
        if step.on_files:
            arguments += ["--root", str(self.roots[step.who])]
        else:
            variables["QMS_URL"] = self.saved["url"]
            if step.who:
                variables["QMS_KEY"] = key_of(step.who)
        return self.memoryctl.call(arguments, stdin=step.request or "", variables=variables)

    def _talk(self, step: Step) -> tuple[int, list[tuple[str, list[Any]]], str]:
        arguments = shlex.split(self._filled(step.command))
        variables = self.qms.environment | ({"QMS_KEY": key_of(step.who)} if step.who else {})
        return talk([self.qms.script, *arguments], variables, step.request)

    def _edit(self, project: str, change: Mapping[str, Any]) -> None:
        self.settle(folded=True)
        assert self.server is not None
        path = self.server.root / "MemoryStores" / project / "entries.jsonl"
        text = path.read_text(encoding="utf-8")
        for old, new in change.get("replace", {}).items():
            if old not in text:
                raise ValueError(f"{old} is not in the file")
            text = text.replace(old, new)
        lines = [
            line
            for line in text.splitlines()
            if not any(part in line for part in change.get("drop", []))
        ]
        lines += change.get("append", [])
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    def settle(self, *, folded: bool = False) -> None:
        """Wait until every entry has its vector and, if asked for, is in its file."""
        until = time.monotonic() + SETTLE_LIMIT_S
        while self.server is not None:
            stores = self.ask_admin("/api/v1/shared/health").value["stores"]
            if all(_is_settled(store, folded=folded) for store in stores):
                return
            if time.monotonic() > until:
                raise TimeoutError("the server did not come to rest")
            time.sleep(SETTLE_PAUSE_S)

    def ask_admin(self, path: str) -> Answer:
        """Send an empty request with the admin's key."""
        headers = {**key_header("admin"), "Content-Type": "application/json"}
        return ask(self.port, "POST", path, headers, b"{}")

    def _filled(self, value: Any) -> Any:
        match value:
            case str():
                return _SAVED.sub(lambda found: self.saved.get(found[1], found[0]), value)
            case list():
                return [self._filled(one) for one in value]
            case dict():
                return {key: self._filled(one) for key, one in value.items()}
            case _:
                return value

    def _save(self, step: Step, value: Any, headers: Mapping[str, str]) -> None:
        for name, place in step.save.items():
            if name in self.saved:
                raise ValueError(f"two steps save {name}")
            found = headers.get(place[1:]) if place.startswith("@") else _at(value, place)
            # A step whose answer lacks it goes on: the difference is in the recording.
            self.saved[name] = found if found is not None else f"no {place}"
            if found:
                self.known.name(found, name)


def _is_settled(store: Mapping[str, Any], *, folded: bool) -> bool:
    vectors, indexes = store["vectors"], store["indexes"]
    if not store["loaded"] or indexes is None or vectors is None:
        return False
    is_idle = indexes["state"] == "ready" and vectors["done"] == vectors["total"]
    return is_idle and (not folded or store["pendingJournal"] == 0)


def _at(value: Any, place: str) -> str | None:
    """Return what stands at a place in an answer, None when nothing does."""
    try:
        for part in place.split("."):
            value = value[int(part)] if isinstance(value, list) else value[part]
    except (KeyError, IndexError, TypeError):
        return None
    return str(value)
