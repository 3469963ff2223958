"""A store over HTTP: durable upserts, memory, and the delay of a hand edit."""

import json
import re
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from qms.disk.disk import Disk
from tools.benchmarks.corpus import documents, lines
from tools.benchmarks.measure import Plan, Row, Spent, Verdict, both, duration, median_of, spend
from tools.benchmarks.served import Client, serving
from tools.benchmarks.server_process import NoServerError
from tools.benchmarks.store_commits import PROJECT, RawAppends
from tools.benchmarks.store_loading import anonymous_mb

_UPSERT = "one upsert over HTTP"
_MEMORY = "anonymous memory, server"
_EDIT = "hand edit until getEntry shows it"
_EDIT_LIMIT_S = 20.0
_ASK_EVERY_S = 0.005


def served_rows(plan: Plan, root: Path, size: int, *, edits: bool) -> list[Row]:
    """Measure a server whose project has `size` entries; without one, return rows that say so."""
    folder = root / "MemoryStores" / PROJECT
    folder.mkdir(parents=True)
    content = lines(PROJECT, size)
    (folder / "entries.jsonl").write_bytes(b"".join(line + b"\n" for line in content))
    try:
        with serving(root) as client:
            rows = [_upsert_row(plan, client, folder, size), _memory_row(client, size)]
            return rows + (_edit_rows(plan, client, folder, size) if edits else [])
    except NoServerError as error:
        subjects = {_UPSERT: "http-extra"} | ({_EDIT: "edit"} if edits else {})
        return [
            Row(
                subject=subject,
                entries=size,
                figure=f"not measured: {error}",
                bound=str(plan.bounds[bound]),
                verdict=Verdict.MISSING,
            )
            for subject, bound in subjects.items()
        ]


def _upsert_row(plan: Plan, client: Client, folder: Path, size: int) -> Row:
    given = list(documents(PROJECT, 500, seed=5))
    bodies = [
        json.dumps({"entry": {**entry, "id": f"{PROJECT}:http-{number}"}}).encode("utf-8")
        for number, entry in enumerate(given)
    ]
    numbers = iter(range(1 << 30))

    def upsert() -> None:
        client.send("upsertEntry", bodies[next(numbers) % len(bodies)])

    frame = _frame(client, folder, upsert)
    raw = RawAppends(folder, frame, Disk())
    process = psutil.Process(client.process_id)

    upserted, appended = _alternated(plan, upsert, raw.one, process)
    raw.close()
    extra, bound = 1e3 * (upserted.wall_s - appended.wall_s), plan.bounds["http-extra"]
    return Row(
        subject=_UPSERT,
        entries=size,
        ours=both(upserted),
        raw=both(appended),
        figure=f"raw + {extra:.2f} ms at the median",
        bound=str(bound),
        verdict=bound.judge(extra),
    )


def _alternated(
    plan: Plan, upsert: Callable[[], None], append: Callable[[], None], process: psutil.Process
) -> list[Spent]:
    """Alternate the writes, so that both use the same disk; CPU is the server's and ours."""
    rounds: list[tuple[Spent, Spent]] = []
    for _ in range(plan.rounds):
        before = _cpu_s(process)
        pairs = [(spend(upsert).wall_s, spend(append)) for _ in range(plan.writes)]
        cpu_s = (_cpu_s(process) - before) / plan.writes
        upserted = Spent(statistics.median(wall_s for wall_s, _ in pairs), cpu_s)
        rounds.append((upserted, median_of([spent for _, spent in pairs])))
    return [median_of(results) for results in zip(*rounds, strict=True)]


def _frame(client: Client, folder: Path, upsert: Callable[[], None]) -> bytes:
    """Return the bytes that an upsert appends to the journal; 1,000 if a fold comes between."""
    journal = folder / ".qms" / "journal.wal"
    client.call("health", {})
    upsert()
    before = journal.stat().st_size
    upsert()
    return journal.read_bytes()[before:] or bytes(1000)


def _memory_row(client: Client, size: int) -> Row:
    """Return the memory of the whole server; `store_loading` has the bound for the store."""
    return Row(
        subject=_MEMORY,
        entries=size,
        figure=f"{anonymous_mb(client.process_id):.0f} MB, model and indexes included",
        verdict=Verdict.SHOWN,
    )


def _edit_rows(plan: Plan, client: Client, folder: Path, size: int) -> list[Row]:
    ways: dict[str, Callable[[Path, str, str], None]] = {
        "rename": _save_by_rename,
        "in place": _save_in_place,
        "sed -i": _save_by_sed,
        "git checkout": _GitCheckout(folder),
    }
    bound = plan.bounds["edit"]
    rows = []
    for name, save in ways.items():
        took = [_edit(client, folder, save, f"{name} {number}") for number in range(plan.rounds)]
        shown = max(spent for _, spent in took)
        saved = sorted(spent for spent, _ in took)[len(took) // 2]
        rows.append(
            Row(
                subject=f"{_EDIT}: {name}",
                entries=size,
                raw=f"the save itself {duration(saved)}",
                figure=f"{duration(shown)}, the longest of {len(took)}",
                bound=str(bound),
                verdict=bound.judge(shown),
            )
        )
    return rows


def _edit(
    client: Client, folder: Path, save: Callable[[Path, str, str], None], mark: str
) -> tuple[float, float]:
    """Change one title by hand; return the time of the save and then of the wait for it."""
    path = folder / "entries.jsonl"
    _wait_for_fold(client, folder)
    document = json.loads(path.read_bytes().split(b"\n")[0])
    old, new = document["title"], f"edited {mark}"
    saved = spend(lambda: save(path, old, new)).wall_s
    started = time.perf_counter()
    while client.call("getEntry", {"id": document["id"]})["entry"]["title"] != new:
        if time.perf_counter() - started > _EDIT_LIMIT_S:
            break
        time.sleep(_ASK_EVERY_S)
    return saved, time.perf_counter() - started


def _wait_for_fold(client: Client, folder: Path) -> None:
    """Wait until the server has written everything, so that the file does not change."""
    deadline = time.monotonic() + _EDIT_LIMIT_S
    while time.monotonic() < deadline:
        stores = client.call("health", {})["stores"]
        if not any(store["pendingJournal"] for store in stores if store["name"] == folder.name):
            return
        time.sleep(0.05)


def _changed(path: Path, old: str, new: str) -> bytes:
    return path.read_bytes().replace(
        f'"title":{json.dumps(old, ensure_ascii=False)}'.encode(), f'"title":"{new}"'.encode(), 1
    )


def _save_by_rename(path: Path, old: str, new: str) -> None:
    temporary = path.with_name("entries.jsonl.swp")
    temporary.write_bytes(_changed(path, old, new))
    temporary.replace(path)


def _save_in_place(path: Path, old: str, new: str) -> None:
    path.write_bytes(_changed(path, old, new))


def _save_by_sed(path: Path, old: str, new: str) -> None:
    pattern = re.escape(old).replace("\\ ", " ")
    subprocess.run(["sed", "-i", f'1s/"title":"{pattern}"/"title":"{new}"/', str(path)], check=True)


class _GitCheckout:
    """A save by git: the edited file is committed, then checked out again."""

    def __init__(self, folder: Path) -> None:
        self._repository = folder.parent.parent / "history.git"
        self._folder = folder
        self._git("init", "-q")

    def __call__(self, path: Path, old: str, new: str) -> None:
        # The commit is made in a copy, so that the server sees only the checkout.
        blob = subprocess.run(
            [*self._command(), "hash-object", "-w", "--stdin"],
            input=_changed(path, old, new),
            check=True,
            capture_output=True,
        ).stdout.decode()
        self._git("update-index", "--add", "--cacheinfo", f"100644,{blob.strip()},entries.jsonl")
        self._git("checkout", "-q", "-f", "--", "entries.jsonl")

    def _command(self) -> list[str]:
        return ["git", f"--git-dir={self._repository}", f"--work-tree={self._folder}"]

    def _git(self, *arguments: str) -> None:
        subprocess.run([*self._command(), *arguments], check=True, cwd=self._folder)


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)
