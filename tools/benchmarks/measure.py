"""Measurements in alternating rounds of CPU and wall time, their bounds, and the result table."""

import gc
import operator
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum

import msgspec


class Spent(msgspec.Struct, frozen=True):
    """A cost: seconds of wall time, and seconds of this process's CPU."""

    wall_s: float
    cpu_s: float

    def per(self, count: int) -> "Spent":
        """Return the share of one of `count` equal parts."""
        return Spent(self.wall_s / count, self.cpu_s / count)


class Verdict(StrEnum):
    """Whether a figure keeps its bound."""

    MET = "met"
    BROKEN = "BROKEN"
    SHOWN = "no bound"
    MISSING = "not measured"


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One figure with the raw cost of the same run."""

    subject: str
    entries: int
    ours: str = ""
    raw: str = ""
    figure: str
    bound: str = ""
    verdict: Verdict = Verdict.SHOWN


class Bound(msgspec.Struct, frozen=True):
    """The limit of a figure; `sign` is "≤" or "≥"."""

    sign: str
    limit: float
    unit: str = ""

    def judge(self, value: float) -> Verdict:
        """Say whether a value keeps the bound."""
        keeps = operator.le if self.sign == "≤" else operator.ge
        return Verdict.MET if keeps(value, self.limit) else Verdict.BROKEN

    def __str__(self) -> str:
        return f"{self.sign} {self.limit:g} {self.unit}".rstrip()


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """The size of a measurement, and its bounds."""

    sizes: tuple[int, ...]
    rounds: int
    writes: int
    """Writes of one round."""
    fold_s: float
    """The least time for which a store is written to while its folds are measured."""
    bounds: dict[str, Bound]


@contextmanager
def quiet_collector() -> Iterator[None]:
    """Disable the garbage collector, as the server does at load, and freeze existing objects."""
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()


def spend(action: Callable[[], object]) -> Spent:
    """Return the cost of an action."""
    wall, cpu = time.perf_counter(), time.process_time()
    action()
    return Spent(time.perf_counter() - wall, time.process_time() - cpu)


def alternate(rounds: int, *actions: Callable[[], Spent]) -> list[Spent]:
    """Run the actions in turn, `rounds` times, and return each one's median."""
    spent: list[list[Spent]] = [[] for _ in actions]
    for _ in range(rounds):
        for results, action in zip(spent, actions, strict=True):
            results.append(action())
    return [median_of(results) for results in spent]


def median_of(results: Sequence[Spent]) -> Spent:
    """Return the medians of wall and CPU."""
    return Spent(
        statistics.median(one.wall_s for one in results),
        statistics.median(one.cpu_s for one in results),
    )


def duration(seconds: float) -> str:
    """Return a time with three digits and a fitting unit."""
    for factor, unit in ((1, "s"), (1e3, "ms")):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def both(spent: Spent) -> str:
    """Return CPU and wall time as text for the table."""
    return f"{duration(spent.cpu_s)} / {duration(spent.wall_s)}"


def table(rows: Sequence[Row], *, markdown: bool) -> str:
    """Return the rows as a table; times are CPU / wall."""
    head = ["figure", "entries", "ours (CPU / wall)", "raw (CPU / wall)", "", "bound", "verdict"]
    cells = [
        [row.subject, f"{row.entries:,}", row.ours, row.raw, row.figure, row.bound, row.verdict]
        for row in rows
    ]
    if markdown:
        rule = ["---"] * len(head)
        return "\n".join(f"| {' | '.join(line)} |" for line in [head, rule, *cells])
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in [head, *cells]
    )


def summary(rows: Sequence[Row]) -> str:
    """Return how many bounds were met, broken and not measured."""
    counts = {verdict: sum(row.verdict is verdict for row in rows) for verdict in Verdict}
    return (
        f"{counts[Verdict.MET]} bounds met, {counts[Verdict.BROKEN]} broken,"
        f" {counts[Verdict.MISSING]} not measured"
    )
