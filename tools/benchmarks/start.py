"""Starts of our programs: memoryctl against a bare Python, and servers until their first answer.

With the folder of another checkout, both are measured in turn and the other one is the raw cost.
"""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import psutil

from qms.cli.key_file import read_key
from qms.cli.remote import Remote
from tools.benchmarks.measure import Bound, Row, Spent, Verdict, both, median_of

HERE = Path(__file__).resolve().parents[2]
BARE = (sys.executable, "-c", "import click, ssl, msgspec, http.client")
MEMORYCTL = (sys.executable, "-m", "qms.cli.main")
QMS = (sys.executable, "-m", "qms.cli.server")
CALLS = ("--help", "list", "search text", "keys list", "hook session-start")
PROTOCOL = "2025-06-18"

_MODULES = (
    "import sys\nfrom qms.cli.program import run\nrun(sys.argv[1:])\n"
    "print(sum(name.split('.')[0] == 'qms' for name in sys.modules), file=sys.stderr)"
)


class Program(msgspec.Struct, frozen=True):
    """One checkout and the root that its programs work on."""

    checkout: Path
    root: Path

    @property
    def environ(self) -> dict[str, str]:
        """Return the environment in which `qms` is this checkout."""
        return {**os.environ, "PYTHONPATH": str(self.checkout), "QMS_ROOT": str(self.root)}

    def run(self, *command: str) -> Spent:
        """Run a command to its end and return what it cost."""
        before, began = _children_s(), time.perf_counter()
        subprocess.run(
            command,
            check=True,
            env=self.environ,
            cwd=self.root.parent,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return Spent(time.perf_counter() - began, _children_s() - before)

    def started(self, *command: str) -> "subprocess.Popen[str]":
        """Start a program that reads and writes lines."""
        return subprocess.Popen(
            command,
            env=self.environ,
            cwd=self.root.parent,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
        )


def start_rows(rounds: int, bound: Bound, scratch: Path, other: Path | None) -> Iterator[Row]:
    """Measure the starts of this checkout, and of the other one in turn."""
    programs = [Program(HERE, scratch / "ours")]
    if other is not None:
        programs.append(Program(other, scratch / "theirs"))
    for program in programs:
        program.run(*MEMORYCTL, "init")
    servers = [_serving(program) for program in programs]
    try:
        for call in CALLS:
            yield _call_row(call, rounds, bound, programs)
        attached = [_each(program, _attached) for program in programs]
        yield _first_answer_row("qms mcp, attached to a server", rounds, attached)
    finally:
        for server in servers:
            _end(server)
    own = [_each(program, _attached) for program in programs]
    yield _first_answer_row("qms mcp with a server of its own", rounds, own)
    served = [_each(program, _served) for program in programs]
    yield _first_answer_row("qms serve", rounds, served)


def _each(program: Program, action: Callable[[Program], Spent]) -> Callable[[], Spent]:
    return lambda: action(program)


def _call_row(call: str, rounds: int, bound: Bound, programs: list[Program]) -> Row:
    """Compare the CPU of a call with that of a bare Python; each round runs all of them."""
    ours = programs[0]
    costs: list[list[Spent]] = [[] for _ in (BARE, *programs)]
    for _ in range(rounds):
        costs[0].append(ours.run(*BARE))
        for spent, program in zip(costs[1:], programs, strict=True):
            spent.append(program.run(*MEMORYCTL, *call.split()))
    bare, *spent_each = (median_of(spent) for spent in costs)
    ratios = [spent.cpu_s / bare.cpu_s for spent in spent_each]
    before = f"; other checkout {ratios[1]:.2f} ×" if len(ratios) > 1 else ""
    return Row(
        subject=f"memoryctl {call}, {_modules(ours, call)} modules{before}",
        entries=0,
        ours=both(spent_each[0]),
        raw=both(bare),
        figure=f"{ratios[0]:.2f} ×",
        bound=str(bound),
        verdict=bound.judge(ratios[0]),
    )


def _modules(program: Program, call: str) -> int:
    done = subprocess.run(
        [sys.executable, "-c", _MODULES, *call.split()],
        check=True,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        env=program.environ,
        encoding="utf-8",
    )
    return int(done.stderr.splitlines()[-1])


def _first_answer_row(subject: str, rounds: int, starts: list[Callable[[], Spent]]) -> Row:
    """Show the time to the first tools/list, and how much of the other checkout's that is."""
    costs: list[list[Spent]] = [[] for _ in starts]
    for _ in range(rounds):
        for spent, start in zip(costs, starts, strict=True):
            spent.append(start())
    ours, *theirs = (median_of(spent) for spent in costs)
    share = f"{ours.cpu_s / theirs[0].cpu_s:.2f} ×" if theirs else both(ours)
    return Row(
        subject=f"{subject}: start to tools/list",
        entries=0,
        ours=both(ours),
        raw=both(theirs[0]) if theirs else "",
        figure=share,
        verdict=Verdict.SHOWN,
    )


def _attached(program: Program) -> Spent:
    """Return the cost of `qms mcp` until it has answered tools/list."""
    began = time.perf_counter()
    process = program.started(*QMS, "mcp", "--project", "default")
    assert process.stdin is not None
    assert process.stdout is not None
    client = {"name": "bench", "version": "1"}
    hello = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client}
    messages: tuple[dict[str, Any], ...] = (
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list", "params": {}},
    )
    for message in messages:
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        process.stdin.flush()
        if "id" in message:
            _wait_for(process.stdout, message["id"])
    spent = _spent_by(process, began)
    _end(process)
    return spent


def _served(program: Program) -> Spent:
    """Return the cost of `qms serve` until it has answered tools/list."""
    began = time.perf_counter()
    process = program.started(*QMS, "serve", "--port", "0")
    try:
        _list_tools(program, _address(process))
        return _spent_by(process, began)
    finally:
        _end(process)


def _serving(program: Program) -> "subprocess.Popen[str]":
    process = program.started(*QMS, "serve", "--port", "0")
    _list_tools(program, _address(process))
    return process


def _list_tools(program: Program, url: str) -> None:
    remote = Remote(url, read_key(program.root))
    try:
        assert remote.speak("default", "tools/list", {})["tools"]
    finally:
        remote.close()


def _address(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    for line in process.stdout:
        name, _, value = line.partition(": ")
        if name == "listening":
            return value.strip()
    raise RuntimeError("the server ended before it listened")


def _wait_for(lines: Iterator[str], wanted: int) -> None:
    for line in lines:
        if json.loads(line).get("id") == wanted:
            return
    raise RuntimeError("the program ended before it answered")


def _spent_by(process: "subprocess.Popen[str]", began: float) -> Spent:
    times = psutil.Process(process.pid).cpu_times()
    return Spent(time.perf_counter() - began, times.user + times.system)


def _end(process: "subprocess.Popen[str]") -> None:
    process.terminate()
    process.communicate()


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
