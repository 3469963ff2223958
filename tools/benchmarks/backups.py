"""Cost of backups, against a plain copy and one upsert, and their effect on searches."""

import shutil
import statistics
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from qms.disk.disk import Disk
from qms.features.backups.backup_manifest import BackupKind, Manifest
from qms.features.backups.files import BackupFolder
from qms.features.backups.take import Order, stamp, take
from qms.resources import TEMPLATE_NAME
from qms.store.memory_store import MemoryStore
from tools.benchmarks.agents import wait_until
from tools.benchmarks.corpus import open_store
from tools.benchmarks.measure import Plan, Row, Spent, alternate, both, duration, spend
from tools.benchmarks.served import Client, serving
from tools.benchmarks.store_commits import PROJECT, Upserts

CHANGES = 10
_SEARCHES = 150
_TURN = 15
_QUERY = "when does the index get rebuilt"
_SETTLED_S = 900.0
_KEY = "qms_bench"
_SETTINGS = f"""\
[global.embedding]
model = "hash"
[global.rate]
requestsPerMinute = 0
[endpoint.{PROJECT}]
slug = "{PROJECT}"
[users.bench]
tier = "admin"
apiKey = "{_KEY}"
"""


class Backups:
    """Makes backups of one store, each with its own name."""

    def __init__(self, store: MemoryStore, root: Path) -> None:
        self._store = store
        self._folder = BackupFolder(Disk(), root)
        self._at = datetime.now(UTC)

    def take(self, mode: BackupKind) -> Manifest:
        """Make one."""
        self._at += timedelta(seconds=1)
        order = Order(id=stamp(self._at), mode=mode, at_utc=self._at, config_text="")
        return take(self._store, self._folder, order, lambda _done, _total: None)


def cost_rows(plan: Plan, folder: Path, size: int) -> Iterator[Row]:
    """Measure a full and a differential backup of a store in process."""
    store = open_store(folder / PROJECT, PROJECT)
    made = Backups(store, folder / "Backups")
    try:
        yield _full_row(plan, folder, store, made, size)
        yield from _differential_rows(plan, store, made, size)
    finally:
        store.close()


def _full_row(plan: Plan, folder: Path, store: MemoryStore, made: Backups, size: int) -> Row:
    source, target = folder / PROJECT / "entries.jsonl", folder / "copy.jsonl"
    store.fold()
    made.take(BackupKind.FULL)
    ours, raw = alternate(
        plan.rounds,
        lambda: spend(lambda: made.take(BackupKind.FULL)),
        lambda: spend(lambda: Disk().copy(source, target, sync=True)),
    )
    bound = plan.bounds["backup-ratio"]
    ratio = ours.cpu_s / raw.cpu_s
    return Row(
        subject="full backup, against copy and sync",
        entries=size,
        ours=both(ours),
        raw=both(raw),
        figure=f"{ratio:.2f} × CPU, {ours.wall_s / raw.wall_s:.2f} × wall",
        bound=str(bound),
        verdict=bound.judge(ratio),
    )


def _differential_rows(plan: Plan, store: MemoryStore, made: Backups, size: int) -> Iterator[Row]:
    upserts = Upserts(store, seed=1)
    sizes: list[int] = []

    def change() -> Spent:
        def work() -> None:
            for _ in range(CHANGES):
                upserts.one()

        return spend(work).per(CHANGES)

    def differential() -> Spent:
        def work() -> None:
            manifest = made.take(BackupKind.DIFFERENTIAL)
            sizes.append(sum(file.bytes for file in manifest.files.values()))

        return spend(work)

    one, ours = alternate(plan.rounds, change, differential)
    ratio, bytes_ = plan.bounds["differential-ratio"], plan.bounds["differential-size"]
    cost = ours.cpu_s / one.cpu_s
    yield Row(
        subject=f"differential after {CHANGES} changes, against one upsert",
        entries=size,
        ours=both(ours),
        raw=both(one),
        figure=f"{cost:.1f} × CPU, {ours.wall_s / one.wall_s:.1f} × wall",
        bound=str(ratio),
        verdict=ratio.judge(cost),
    )
    kilobytes = max(sizes) / 1000
    yield Row(
        subject=f"size of a differential after {CHANGES} changes",
        entries=size,
        figure=f"{kilobytes:.1f} KB",
        bound=str(bytes_),
        verdict=bytes_.judge(kilobytes),
    )


def search_row(plan: Plan, folder: Path, size: int) -> Row:
    """Measure searches over HTTP during backups, against the same searches alone."""
    root = _make_root(folder)
    with serving(root, key=_KEY) as client:
        wait_until(partial(client.is_searched, PROJECT), _SETTLED_S)
        wait_until(partial(client.has_vectors, PROJECT), _SETTLED_S)
        alone: list[float] = []
        busy: list[float] = []
        # They take turns, so that other work on the machine affects both.
        while len(busy) < _SEARCHES:
            alone += [_search(client) for _ in range(_TURN)]
            client.call("backupStore", {"mode": "full"})
            while _is_under_way(client):
                busy.append(_search(client))
    ours, idle = statistics.median(busy), statistics.median(alone)
    bound = plan.bounds["search-during"]
    return Row(
        subject="search over HTTP during full backups, median",
        entries=size,
        ours=duration(ours),
        raw=duration(idle),
        figure=f"{ours / idle:.2f} × of idle",
        bound=str(bound),
        verdict=bound.judge(ours / idle),
    )


def _search(client: Client) -> float:
    request = {"query": {"text": _QUERY, "maxResults": 10}}
    return spend(lambda: client.call("searchEntries", request)).wall_s


def _is_under_way(client: Client) -> bool:
    jobs = client.get("/admin/backups")["jobs"]
    return any(job["state"] in ("queued", "running") for job in jobs)


def _make_root(folder: Path) -> Path:
    """Make a root whose default project is a copy of the measured store."""
    root = folder / "root"
    shutil.copytree(folder / PROJECT, root / "MemoryStores" / PROJECT)
    (root / TEMPLATE_NAME).write_text(_SETTINGS, encoding="utf-8")
    return root
