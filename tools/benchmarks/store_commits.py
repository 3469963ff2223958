"""Cost of writing in process: group commits, single upserts and folds."""

import gc
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from qms.disk.disk import Disk
from qms.memory.access import AccessTier, Caller
from qms.memory.entry import Document
from qms.memory.entry_input import EntryRules, new_document, replaced_document
from qms.store.draft import Draft
from qms.store.memory_store import MemoryStore
from qms.store.options import Origin
from tools.benchmarks.corpus import documents, open_store
from tools.benchmarks.measure import Plan, Row, Spent, Verdict, alternate, both, spend

PROJECT = "default"
_WRITERS = 64
_SLOW_SYNC_S = 0.01
_WRITES_PER_S = 50
_FOLD_LIMIT_S = 150.0
_CALLER = Caller(user="bench", access=AccessTier.ADMIN)
_RULES = EntryRules(project=PROJECT)


class CountingDisk(Disk):
    """The real disk; counts its syncs and makes each take at least `least_s`."""

    def __init__(self, least_s: float = 0.0) -> None:
        self._least_s = least_s
        self.syncs = 0

    def sync(self, descriptor: int) -> None:
        """Sync, and wait until `least_s` have passed."""
        ends = time.monotonic() + self._least_s
        super().sync(descriptor)
        self.syncs += 1
        time.sleep(max(0.0, ends - time.monotonic()))


class Upserts:
    """An endless series of upserts; every second one replaces an entry."""

    def __init__(self, store: MemoryStore, seed: int) -> None:
        self._store = store
        self._ids = sorted(store.view.records)[:: max(1, len(store.view) // 997)]
        self._given: list[Document] = list(documents(PROJECT, 1000, seed))
        self._seed = seed
        self._numbers = count()

    def one(self) -> None:
        """Make the next upsert and return once it is durable."""
        number = next(self._numbers)
        now = datetime.now(UTC)
        given = dict(self._given[number % len(self._given)])
        given["title"] = f"{given['title']} {number}"
        given["id"] = (
            self._ids[number % len(self._ids)]
            if number % 2 and self._ids
            else f"{PROJECT}:bench-{self._seed}-{number}"
        )

        def plan(draft: Draft) -> None:
            before = draft.get(given["id"])
            if before is None:
                document = new_document(
                    given, local_id="unused", now=now, caller=_CALLER, rules=_RULES
                )
                draft.find_exact(document)
            else:
                document = replaced_document(
                    given, before.document(), now=now, caller=_CALLER, rules=_RULES
                )
            draft.put(document)

        self._store.commit(
            Origin(command="upsertEntry", user="bench", at_utc=now, right=AccessTier.ADMIN), plan
        )


class RawAppends:
    """The raw cost of the same bytes: append to a file on the same disk and sync it."""

    def __init__(self, folder: Path, frame: bytes, disk: Disk) -> None:
        self._disk = disk
        self._frame = frame
        self._descriptor = disk.open(folder / "raw.wal", create=True)

    def one(self) -> None:
        """Append one frame and return once it is durable."""
        self._disk.write(self._descriptor, self._frame)
        self._disk.sync(self._descriptor)

    def close(self) -> None:
        """Close the file."""
        self._disk.close(self._descriptor)


def group_rows(plan: Plan, folder: Path, size: int) -> list[Row]:
    """Measure how many writers share a sync, with slow syncs and without."""
    slow, quick = CountingDisk(_SLOW_SYNC_S), CountingDisk()
    with opened(folder, slow) as store:
        upserts = Upserts(store, 1)
        raw = RawAppends(folder, frame_of(folder, upserts), slow)
        alone, together, bare = alternate(
            plan.rounds,
            lambda: repeated(upserts.one, max(4, plan.writes // 20)),
            lambda: crowded(upserts.one, plan.writes),
            lambda: repeated(raw.one, max(4, plan.writes // 20)),
        )
        raw.close()
    gain = alone.wall_s / together.wall_s
    with opened(folder, quick) as store:
        upserts = Upserts(store, 2)
        raw = RawAppends(folder, frame_of(folder, upserts), CountingDisk())
        written = 0

        def crowd() -> Spent:
            nonlocal written
            written += plan.writes
            return crowded(upserts.one, plan.writes)

        quick.syncs = 0
        free, lone = alternate(plan.rounds, crowd, lambda: repeated(raw.one, plan.writes))
        raw.close()
    per_sync = written / quick.syncs
    bounds = plan.bounds
    return [
        Row(
            subject=f"{_WRITERS} writers, sync slowed to 10 ms, each write",
            entries=size,
            ours=both(together),
            raw=both(bare),
            figure=f"{gain:.1f} × one writer ({both(alone)})",
            bound=str(bounds["group-gain"]),
            verdict=bounds["group-gain"].judge(gain),
        ),
        Row(
            subject=f"{_WRITERS} writers, each write",
            entries=size,
            ours=both(free),
            raw=both(lone),
            figure=f"{per_sync:.1f} writes a sync, {1 / free.wall_s:,.0f} writes/s",
            bound=str(bounds["writes-per-sync"]),
            verdict=bounds["writes-per-sync"].judge(per_sync),
        ),
    ]


def upsert_rows(plan: Plan, folders: dict[int, Path]) -> list[Row]:
    """Measure sequential upserts without folds, all sizes in each round."""
    with opened_all(folders) as stores:
        upserts = {size: Upserts(store, 3) for size, store in stores.items()}
        started = {size: spend(one.one) for size, one in upserts.items()}
        first = min(folders)
        frame = frame_of(folders[first], upserts[first])
        raw = RawAppends(folders[first], frame, Disk())
        actions: list[Callable[[], Any]] = [one.one for one in upserts.values()] + [raw.one]
        *ours, bare = alternate(plan.rounds, *(_batch(one, plan.writes) for one in actions))
        raw.close()
    by_size = dict(zip(upserts, ours, strict=True))
    base, bound = by_size[first].cpu_s, plan.bounds["upsert-growth"]
    rows = [
        Row(
            subject="one upsert, folds apart",
            entries=size,
            ours=both(spent),
            raw=both(bare),
            figure=f"{spent.cpu_s / base:.2f} × the CPU at {first:,}",
            bound=str(bound) if size != first else "",
            verdict=bound.judge(spent.cpu_s / base) if size != first else Verdict.SHOWN,
        )
        for size, spent in by_size.items()
    ]
    return rows + [
        Row(
            subject="first upsert after a load",
            entries=size,
            ours=both(spent),
            raw=both(bare),
            figure="makes the index of titles",
        )
        for size, spent in started.items()
    ]


def fold_row(plan: Plan, folder: Path, size: int) -> Row:
    """Measure the folds of a steady stream of writes, over whole spans from fold to fold."""
    with opened(folder, Disk()) as store:
        upserts = Upserts(store, 4)
        store.fold()
        stop = threading.Event()
        writer = threading.Thread(target=_write_steadily, args=(upserts, stop))
        writer.start()
        try:
            folds, share, wall_s = _watch_folds(store, plan.fold_s)
        finally:
            stop.set()
            writer.join()
    data = (folder / "entries.jsonl").read_bytes()
    raw = alternate(
        plan.rounds, lambda: spend(lambda: Disk().write_new(folder / "raw.tmp", [data]))
    )
    (folder / "raw.tmp").unlink()
    bound = plan.bounds["fold-share"]
    return Row(
        subject=f"folds at {_WRITES_PER_S} writes/s, each",
        entries=size,
        ours=both(folds),
        raw=both(raw[0]),
        figure=f"{share:.2f} % of a CPU, one every {wall_s:.3g} s",
        bound=str(bound),
        verdict=bound.judge(share),
    )


def repeated(action: Callable[[], Any], times: int) -> Spent:
    """Return the cost of one of many sequential calls."""

    def run() -> None:
        for _ in range(times):
            action()

    return spend(run).per(times)


def crowded(action: Callable[[], Any], times: int) -> Spent:
    """Return the cost of one of many calls by 64 threads."""
    each = max(1, times // _WRITERS)
    barrier = threading.Barrier(_WRITERS + 1)

    def work() -> None:
        barrier.wait()
        for _ in range(each):
            action()

    threads = [threading.Thread(target=work) for _ in range(_WRITERS)]
    for thread in threads:
        thread.start()

    def run() -> None:
        barrier.wait()
        for thread in threads:
            thread.join()

    return spend(run).per(each * _WRITERS)


def frame_of(folder: Path, upserts: Upserts) -> bytes:
    """Return what an upsert appends to the journal."""
    journal = folder / ".qms" / "journal.wal"
    before = journal.stat().st_size
    upserts.one()
    return journal.read_bytes()[before:]


@contextmanager
def opened(folder: Path, disk: Disk) -> Iterator[MemoryStore]:
    """Open a store, with its entries frozen for the garbage collector as in the server."""
    gc.disable()
    store = open_store(folder, PROJECT, disk)
    gc.enable()
    gc.freeze()
    try:
        yield store
    finally:
        gc.unfreeze()
        store.close()


@contextmanager
def opened_all(folders: dict[int, Path]) -> Iterator[dict[int, MemoryStore]]:
    """Open the stores of all sizes."""
    gc.disable()
    stores = {size: open_store(folder, PROJECT) for size, folder in folders.items()}
    gc.enable()
    gc.freeze()
    try:
        yield stores
    finally:
        gc.unfreeze()
        for store in stores.values():
            store.close()


def _batch(action: Callable[[], Any], times: int) -> Callable[[], Spent]:
    return lambda: repeated(action, times)


def _write_steadily(upserts: Upserts, stop: threading.Event) -> None:
    due = time.monotonic()
    while not stop.wait(max(0.0, due - time.monotonic())):
        upserts.one()
        due += 1 / _WRITES_PER_S


def _watch_folds(store: MemoryStore, least_s: float) -> tuple[Spent, float, float]:
    """Fold when a fold is due; return one fold, the share of a CPU in %, and the time between."""
    started = time.monotonic()
    ends: list[float] = []
    spent: list[Spent] = []
    while time.monotonic() - started < _FOLD_LIMIT_S:
        due = store.fold_due_in(time.monotonic())
        if due is None or due > 0:
            time.sleep(min(0.05, due or 0.05))
            continue
        wall, cpu = time.monotonic(), time.thread_time()
        store.fold()
        ends.append(time.monotonic())
        spent.append(Spent(ends[-1] - wall, time.thread_time() - cpu))
        if len(ends) > 1 and ends[-1] - started >= least_s:
            break
    if len(ends) < 2:
        raise RuntimeError(f"no two folds within {_FOLD_LIMIT_S} s")
    # The first fold only starts the span: its cost belongs to the time before.
    span = ends[-1] - ends[0]
    total = Spent(sum(one.wall_s for one in spent[1:]), sum(one.cpu_s for one in spent[1:]))
    return total.per(len(spent) - 1), 100 * total.cpu_s / span, span / (len(ends) - 1)
