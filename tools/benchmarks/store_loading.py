"""Cost of loading twenty stores in a fresh process, against a raw decode of their lines.

Run as a program it is that fresh process: it measures once and prints the result as JSON.
"""

import gc
import os
import re
import subprocess
import sys
from pathlib import Path

import msgspec

from qms.memory.entry import Header
from tools.benchmarks.corpus import lines, make_store, open_store
from tools.benchmarks.measure import (
    Plan,
    Row,
    Spent,
    Verdict,
    alternate,
    both,
    quiet_collector,
    spend,
)

STORES = 20
BOUND_FROM = 100_000
"""Below this many entries the fixed cost of twenty stores dominates, so there is no bound."""


class _Outcome(msgspec.Struct):
    spent: Spent
    anonymous_mb: float


def loading_rows(plan: Plan, folder: Path, size: int) -> list[Row]:
    """Measure time and memory to load `size` entries in twenty stores."""
    for number in range(STORES):
        project = f"p{number}"
        make_store(folder / project, project, lines(project, max(1, size // STORES)))
    memory: list[float] = []

    def ours() -> Spent:
        outcome = _in_child("stores", folder)
        memory.append(outcome.anonymous_mb)
        return outcome.spent

    loaded, decoded = alternate(plan.rounds, ours, lambda: _in_child("decode", folder).spent)
    ratio, is_bound = loaded.cpu_s / decoded.cpu_s, size >= BOUND_FROM
    wanted, room = plan.bounds["load-ratio"], plan.bounds["memory"]
    return [
        Row(
            subject=f"load {STORES} stores",
            entries=size,
            ours=both(loaded),
            raw=both(decoded),
            figure=f"{ratio:.2f} × the CPU of a bare decode",
            bound=str(wanted) if is_bound else "",
            verdict=wanted.judge(ratio) if is_bound else Verdict.SHOWN,
        ),
        Row(
            subject="anonymous memory, stores loaded",
            entries=size,
            figure=f"{max(memory):.0f} MB",
            bound=str(room),
            verdict=room.judge(max(memory)),
        ),
    ]


def anonymous_mb(process: int | str = "self") -> float:
    """Return the anonymous resident memory of a process in MB, or 0 if it is unknown."""
    try:
        text = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="utf-8")
    except OSError:
        return 0.0
    found = re.search(r"^Anonymous:\s+(\d+) kB$", text, re.MULTILINE)
    return int(found[1]) * 1024 / 1e6 if found else 0.0


def _in_child(what: str, folder: Path) -> _Outcome:
    command = [sys.executable, "-m", "tools.benchmarks.store_loading", what, str(folder)]
    found = subprocess.run(command, check=True, capture_output=True)
    return msgspec.json.decode(found.stdout, type=_Outcome)


def _main(what: str, folder: Path) -> None:
    projects = sorted(path for path in folder.iterdir() if path.is_dir())
    kept: list[object] = []
    if what == "stores":
        with quiet_collector():
            spent = spend(lambda: kept.extend(open_store(path, path.name) for path in projects))
    else:
        decode = msgspec.json.Decoder(Header).decode
        content = [
            line
            for path in projects
            for line in (path / "entries.jsonl").read_bytes().split(b"\n")[:-1]
        ]
        with quiet_collector():
            spent = spend(lambda: kept.append([decode(line) for line in content]))
    gc.collect()
    outcome = _Outcome(spent, anonymous_mb())
    sys.stdout.buffer.write(msgspec.json.encode(outcome))
    sys.stdout.flush()
    os._exit(0)  # freeing a hundred thousand entries is not measured


if __name__ == "__main__":
    _main(sys.argv[1], Path(sys.argv[2]))
