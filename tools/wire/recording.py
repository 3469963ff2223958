"""Make a recording of a checkout: start it, play every script, write down what it said."""

import sys
import tempfile
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tools.wire import subjects, traces
from tools.wire.doors import Doors
from tools.wire.exchange import ask, key_header
from tools.wire.programs import Program, Server
from tools.wire.roots import lay_out
from tools.wire.scripts.order import FILES_ALONE, LIVES
from tools.wire.stable import Placeholders
from tools.wire.steps import Script, mcp

PROGRAMS = "programs"
"""The part of a recording that holds what the programs say about themselves."""

PARTS = (PROGRAMS, *LIVES)
"""A recording can be made of some parts alone: each has roots and files of its own."""

FIRST_JOBS_S = 6.0
"""How old a server is when the timed jobs of its start are over."""

NEXT_JOBS_S = 170.0
"""How old a server may become; soon after, its timed jobs change what the recording holds."""

_OF_THE_MOMENT = {"date", "content-length"}

Files = Iterator[tuple[str, str]]
"""The files of a recording: name and text."""


def record(programs: Path, out: Path, parts: Collection[str] = PARTS) -> None:
    """Write a recording of the programs in a folder into another, which is emptied of old files."""
    out.mkdir(parents=True, exist_ok=True)
    for old in sorted(out.rglob("*"), reverse=True):
        old.unlink() if old.is_file() else old.rmdir()
    with tempfile.TemporaryDirectory(prefix="wire-") as name:
        for file, text in _files(programs, Path(name).resolve(), parts):
            path = out / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")


@dataclass(frozen=True)
class _Stage:
    """What all parts of a recording have in common."""

    programs: Path
    home: Path
    roots: dict[str, Path]
    known: Placeholders
    memoryctl: Program
    qms: Program

    def doors(self, server: Server | None) -> Doors:
        """Return the doors of a server, or of files alone."""
        return Doors(server, self.memoryctl, self.qms, self.roots, self.known)


def _files(programs: Path, folder: Path, parts: Collection[str]) -> Files:
    roots = lay_out(folder)
    home = folder / "home"
    paths = {str(path): f"<{name}>" for name, path in {**roots, "home": home}.items()}
    with (
        Program(programs, "memoryctl", home) as memoryctl,
        Program(programs, "qms", home) as qms,
    ):
        for part in parts:
            known = Placeholders(datetime.now(UTC), {**paths, str(folder): "<folder>"})
            stage = _Stage(programs, home, roots, known, memoryctl, qms)
            yield from _programs(stage) if part == PROGRAMS else _life(stage, part, LIVES[part])


def _programs(stage: _Stage) -> Files:
    known, memoryctl = stage.known, stage.memoryctl
    yield "programs/memoryctl-help.txt", known.plain(subjects.helps("memoryctl", memoryctl))
    yield "programs/qms-help.txt", known.plain(subjects.helps("qms", stage.qms))
    for shell in ("bash", "zsh", "fish", "powershell"):
        ended = memoryctl.call(["completion", shell])
        yield f"programs/completion-{shell}.txt", f"exit {ended.code}\n{ended.stdout}"
    ended = memoryctl.call(["man"])
    yield "programs/man.txt", f"exit {ended.code}\n{known.sheet().text(ended.stdout)}"


def _life(stage: _Stage, name: str, scripts: dict[str, Script]) -> Files:
    """Play the scripts of one part, and give what is on disk afterwards."""
    if name == FILES_ALONE:
        yield from _calls(stage.doors(None), scripts)
    else:
        with Server(stage.programs, stage.roots[name], stage.home) as server:
            known = stage.known
            known.paths = {server.url: "<url>", f":{server.port}": ":<port>", **known.paths}
            yield from _served(stage.doors(server), server, name, scripts)
    # The root `piped` is left out: what serves it ends at any moment of its background work.
    kept = {FILES_ALONE: (FILES_ALONE, "fresh"), "third": ("third", "left", "peer")}.get(
        name, (name,)
    )
    for root in kept:
        yield from traces.tree(stage.roots[root], stage.known)


def _served(doors: Doors, server: Server, name: str, scripts: dict[str, Script]) -> Files:
    """Take one server from its start to its end."""
    began = time.monotonic()
    health = ask(server.port, "GET", "/health", {})
    doors.usual = {one: told for one, told in health.headers.items() if one not in _OF_THE_MOMENT}
    doors.settle()
    if name == "main":
        yield "pages/headers.txt", "".join(f"{one}: {told}\n" for one, told in doors.usual.items())
        yield from _pages(doors)
    server.wait_for_age(FIRST_JOBS_S)
    yield from _calls(doors, scripts)
    if time.monotonic() - began > NEXT_JOBS_S:
        print(f"{name}: this took so long that timed jobs may have run", file=sys.stderr)
    metrics = ask(server.port, "GET", "/metrics", key_header("admin"))
    yield f"log/{name}-metrics.txt", traces.metric_lines(metrics.text)
    code = server.stop()
    yield f"log/{name}-exit.txt", f"{code}\n" + doors.known.plain("\n".join(server.lines)) + "\n"
    yield f"log/{name}-console.txt", _lines(traces.log_lines(server.errors, doors.known))
    log = (server.root / "logs" / "qms.log").read_text(encoding="utf-8")
    yield f"log/{name}-file.txt", _lines(traces.log_lines(log, doors.known))


def _calls(doors: Doors, scripts: dict[str, Script]) -> Files:
    for name, steps in scripts.items():
        yield f"calls/{name}.txt", doors.play(steps)


def _pages(doors: Doors) -> Files:
    def listed(user: str, query: str, method: str) -> Any:
        value = doors.send(mcp(user, "projA", method, query=query), {}).value
        return (value[-1] if isinstance(value, list) else value)["result"]

    for file, text in (*subjects.pages(doors.port), *subjects.tiers(doors.port)):
        yield file, doors.known.page(text)
    yield from subjects.tool_lists(listed)


def _lines(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
