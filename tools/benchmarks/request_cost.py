"""CPU of a whole search request, against raw tantivy, raw faiss and a bare route."""

import json
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np

from qms.models.hash_embedder import HashEmbedder
from tools.benchmarks.mcp_served import CONFIGURATION, IDLE_CPU_S, PROJECT, REVISIONS, Server
from tools.benchmarks.measure import Plan, Row, Verdict, duration
from tools.benchmarks.search_corpus import Asked, Memories, make_root
from tools.benchmarks.search_cost import Finder

QUESTIONS = 100
RESULTS = 10
BOUND_AT = 10_000
SETTLE_S = 120.0
_ROUTE = f"/api/v1/{PROJECT}/searchEntries"
_ECHO = f"/api/v1/{PROJECT}/getEntry"

Ask = Callable[[str], bytes]


def request_rows(plan: Plan, folder: Path, size: int, other: Path | None) -> Iterator[Row]:
    """Measure `searchEntries` over plain JSON and MCP, of this code and of another checkout."""
    root, words = folder / "root", HashEmbedder()
    make_root(root, size, words)
    (root / "QuickMemoryServer.toml").write_text(CONFIGURATION, encoding="utf-8")
    asked = Memories(11).questions(QUESTIONS, words)
    raw_s = _raw_s(Finder(root, words), asked)
    checkouts = {"": None, "the other checkout, ": other.resolve() if other else None}
    for name, checkout in checkouts.items():
        if name and checkout is None:
            continue
        with (
            _running(checkout, "qms.cli.server", *_serve(root)) as ours,
            _running(None, "tools.benchmarks.bare_servers", "route") as bare,
        ):
            yield from _rows(plan, ours, bare, asked, (name, size, raw_s))


def _rows(
    plan: Plan, ours: Server, bare: Server, asked: list[Asked], about: tuple[str, int, float]
) -> Iterator[Row]:
    name, size, raw_s = about
    _wait_until_idle(ours)
    route_s, _ = _cpu_s(plan, bare, partial(_post, bare, _ECHO), asked)
    doors: dict[str, Ask] = {
        "/api/v1": partial(_post, ours, _ROUTE),
        "MCP": partial(_tool, ours),
    }
    ours.begin(REVISIONS[0])
    bound = plan.bounds["request-ratio"]
    for door, ask in doors.items():
        spent_s, size_bytes = _cpu_s(plan, ours, ask, asked)
        ratio, is_bound = spent_s / (raw_s + route_s), size == BOUND_AT and not name
        yield Row(
            subject=f"{name}searchEntries over {door}, {RESULTS} results, hash embedder",
            entries=size,
            ours=duration(spent_s),
            raw=f"{duration(raw_s)} tantivy and faiss + {duration(route_s)} route",
            figure=f"{ratio:.2f} × the CPU of these; {size_bytes:,} bytes",
            bound=str(bound) if is_bound else "",
            verdict=bound.judge(ratio) if is_bound else Verdict.SHOWN,
        )


def _raw_s(finder: Finder, asked: list[Asked]) -> float:
    scan, spent = finder.raw_scan(), []
    for one in asked:
        words, vector = finder.raw_words(one), np.rint(np.array(one.vector, np.float32) * 500)
        before = time.process_time()
        words()
        scan(vector)
        spent.append(time.process_time() - before)
    return statistics.median(spent)


def _cpu_s(plan: Plan, server: Server, ask: Ask, asked: list[Asked]) -> tuple[float, int]:
    """Return the CPU of the server a request, and the bytes of an answer."""
    sizes = [len(ask(one.text)) for one in asked]  # the first round fills the caches
    before = server.cpu_s()
    for _ in range(plan.rounds):
        for one in asked:
            ask(one.text)
    spent_s = server.cpu_s() - before
    return spent_s / (plan.rounds * len(asked)), int(statistics.median(sizes))


def _request(text: str) -> dict[str, object]:
    return {"query": {"text": text, "maxResults": RESULTS}}


def _post(server: Server, path: str, text: str) -> bytes:
    return server.post(path, json.dumps(_request(text)).encode(), {})


def _tool(server: Server, text: str) -> bytes:
    call = {"name": "searchEntries", "arguments": _request(text)}
    return server.message(REVISIONS[0], "tools/call", call)


def _serve(root: Path) -> tuple[str, ...]:
    return ("serve", "--port", "0", "--root", str(root))


@contextmanager
def _running(checkout: Path | None, *command: str) -> Iterator[Server]:
    server = Server(*command, checkout=checkout)
    try:
        yield server
    finally:
        server.close()


def _wait_until_idle(server: Server) -> None:
    _post(server, _ROUTE, "anything")
    deadline, before = time.monotonic() + SETTLE_S, server.cpu_s()
    while time.monotonic() < deadline:
        time.sleep(1.0)
        spent, before = server.cpu_s() - before, server.cpu_s()
        if spent < IDLE_CPU_S:
            return
