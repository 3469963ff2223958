"""CPU of whole requests against raw tantivy, raw faiss, the raw model and a bare route.

All of them get the same few requests in turn, and so does the code of another checkout: a machine
changes its speed from second to second. No question is asked twice of one server, so that no cache
of answers or vectors helps.
"""

import json
import shutil
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from qms.memory.ports import Embedder
from qms.models.hash_embedder import HashEmbedder
from tools.benchmarks.mcp_served import CONFIGURATION, PROJECT, REVISIONS, Server
from tools.benchmarks.measure import Plan, Row, Verdict, duration
from tools.benchmarks.search_corpus import Asked, Memories, WordVectors, make_root
from tools.benchmarks.search_cost import Finder

TURN = 20
"""How many requests each party gets before it is the next one's turn."""

TURNS = 5
"""How many turns a round has."""

RESULTS = 10
CONNECTIONS = 8
BOUND_AT = 10_000
QUIET_S = 3
QUIET_CPU_S = 0.03
SETTLE_S = 300.0
OURS, BEFORE = "", "before: "
SEARCH_API, SEARCH_MCP = "searchEntries over /api/v1", "searchEntries over MCP"
_ECHO = f"/api/v1/{PROJECT}/getEntry"

Ask = Callable[[str], bytes]
Party = Callable[[Sequence[Asked]], float]
"""Answers questions and returns the CPU of each in seconds."""


class Subject(msgspec.Struct, frozen=True):
    """What a run measures: the number of entries, the embedder, and another checkout."""

    size: int
    model: Embedder | None
    """The shipped model; None measures the hash embedder."""
    before: Path | None = None

    @property
    def embedder(self) -> str:
        """The name of the embedder."""
        return "hash" if self.model is None else "model"

    @property
    def indexed(self) -> Embedder:
        """Return the embedder that the entries are indexed by: a model would take hours."""
        if self.model is None:
            return HashEmbedder()
        return WordVectors(self.model.model_id, self.model.dimension)


def request_rows(plan: Plan, folder: Path, subject: Subject) -> Iterator[Row]:
    """Measure searches, `getEntry` and `upsertEntry` of this code and of another checkout."""
    root = folder / "root"
    make_root(root, subject.size, subject.indexed)
    line = 'model = "hash"\n' if subject.model else ""
    configuration = CONFIGURATION.replace(line, "") if line else CONFIGURATION
    (root / "QuickMemoryServer.toml").write_text(configuration, encoding="utf-8")
    with ExitStack() as running:
        servers: dict[str, Server] = {}
        for name, checkout in ((OURS, None), (BEFORE, subject.before)):
            if name == OURS or checkout is not None:
                servers[name] = _serve(
                    running, shutil.copytree(root, folder / f"of-{len(servers)}"), checkout
                )
        bare = Server("tools.benchmarks.bare_servers", "route")
        running.callback(bare.close)
        yield from _rows(plan, subject, servers, _raw(root, subject, bare))
        yield from _rate_rows(plan, subject, servers)


def _serve(running: ExitStack, root: Path, checkout: Path | None) -> Server:
    where = checkout.resolve() if checkout else None
    server = Server("qms.cli.server", "serve", "--port", "0", "--root", str(root), checkout=where)
    running.callback(server.close)
    server.lift_limit()
    _wait_until_idle(server)
    return server


def _raw(root: Path, subject: Subject, bare: Server) -> dict[str, Party]:
    """Return what a search needs at least."""
    finder = Finder(root, subject.indexed)
    scan = finder.raw_scan()

    def words(asked: Sequence[Asked]) -> float:
        plans = [finder.raw_words(one) for one in asked]
        return _own_cpu_s(plans)

    def vectors(asked: Sequence[Asked]) -> float:
        queries = [np.rint(np.array(one.vector, np.float32) * 500) for one in asked]
        return _own_cpu_s([partial(scan, query) for query in queries])

    def embedding(asked: Sequence[Asked]) -> float:
        assert subject.model is not None
        return _own_cpu_s([partial(subject.model.embed_query, one.text) for one in asked])

    parties: dict[str, Party] = {"tantivy": words, "faiss": vectors}
    if subject.model is not None:
        parties["embedding"] = embedding
    return {**parties, "route": partial(_served_cpu_s, bare, partial(_post_search, bare, _ECHO))}


def _own_cpu_s(actions: Sequence[Callable[[], object]]) -> float:
    before = time.process_time()
    for action in actions:
        action()
    return (time.process_time() - before) / len(actions)


def _served_cpu_s(server: Server, ask: Ask, asked: Sequence[Asked]) -> float:
    server.rest()  # the server may have closed the connection meanwhile
    before = server.cpu_s()
    for one in asked:
        ask(one.text)
    return (server.cpu_s() - before) / len(asked)


def _rows(
    plan: Plan, subject: Subject, servers: dict[str, Server], raw: dict[str, Party]
) -> Iterator[Row]:
    of_each = (plan.rounds * TURNS + 1) * TURN
    # Writes come last: what a server does with them afterwards must not count for searches.
    for calls_of in (_reads, _writes):
        asks = {
            f"{name}{call}": (server, ask)
            for name, server in servers.items()
            for call, ask in calls_of(server).items()
        }
        sizes = {name: _size(ask) for name, (_, ask) in asks.items()}
        served = {name: partial(_served_cpu_s, *asks[name]) for name in asks if sizes[name]}
        # Both servers get the same questions for the same call, another call gets others.
        calls = list(dict.fromkeys(name.removeprefix(BEFORE) for name in served))
        questions = Memories(11).questions(of_each * len(calls), subject.indexed)
        blocks = {
            name: questions[calls.index(name.removeprefix(BEFORE)) :: len(calls)] for name in served
        }
        blocks |= dict.fromkeys(raw, questions[:of_each])
        turns = _take_turns({**raw, **served}, blocks)
        for name in served:
            if not name.startswith(BEFORE):
                yield _row(plan, subject, name, turns, list(raw), sizes[name])


def _take_turns(
    parties: dict[str, Party], questions: dict[str, list[Asked]]
) -> dict[str, list[float]]:
    """Return the CPU of a request in every turn, by party; the first turn is not counted."""
    spent: dict[str, list[float]] = {name: [] for name in parties}
    for start in range(0, min(map(len, questions.values())), TURN):
        for name, party in parties.items():
            cpu_s = party(questions[name][start : start + TURN])
            if start:
                spent[name].append(cpu_s)
    return spent


def _row(
    plan: Plan,
    subject: Subject,
    name: str,
    turns: dict[str, list[float]],
    raw: list[str],
    size: int,
) -> Row:
    is_search = name.startswith(("searchEntries", "recall"))
    needed = raw if is_search else ["route"]
    sums = [sum(turn) for turn in zip(*(turns[one] for one in needed), strict=True)]
    ratio = _ratio(turns[name], sums)
    figures = [f"{ratio:.2f} × the CPU of these", f"{size:,} bytes"]
    if (other := turns.get(f"{BEFORE}{name}")) is not None:
        figures.append(
            f"{_ratio(turns[name], other):.2f} × {duration(statistics.median(other))} before"
        )
    bound = plan.bounds["request-ratio"]
    is_bound = name in (SEARCH_API, SEARCH_MCP) and subject.size == BOUND_AT and not subject.model
    return Row(
        subject=f"{name}, {subject.embedder}",
        entries=subject.size,
        ours=duration(statistics.median(turns[name])),
        raw=" + ".join(f"{duration(statistics.median(turns[one]))} {one}" for one in needed),
        figure="; ".join(figures),
        bound=str(bound) if is_bound else "",
        verdict=bound.judge(ratio) if is_bound else Verdict.SHOWN,
    )


def _ratio(ours: Sequence[float], others: Sequence[float]) -> float:
    return statistics.median(one / other for one, other in zip(ours, others, strict=True))


def _rate_rows(plan: Plan, subject: Subject, servers: dict[str, Server]) -> Iterator[Row]:
    """Measure searches a second over several connections, each server in turn."""
    per_turn = CONNECTIONS * TURN
    questions = Memories(12).questions((plan.rounds + 1) * per_turn, subject.indexed)
    rates: dict[str, list[float]] = {name: [] for name in servers}
    for start in range(0, len(questions), per_turn):
        texts = [one.text for one in questions[start : start + per_turn]]
        for name, server in servers.items():
            rate = _rate(server, texts)
            if start:
                rates[name].append(rate)
    rate, other = statistics.median(rates[OURS]), rates.get(BEFORE)
    compared = (
        f"; {_ratio(rates[OURS], other):.2f} × {statistics.median(other):.0f}/s before"
        if other
        else ""
    )
    yield Row(
        subject=f"searchEntries over /api/v1, {CONNECTIONS} connections, {subject.embedder}",
        entries=subject.size,
        figure=f"{rate:.0f} searches/s by the clock{compared}",
    )


def _rate(server: Server, texts: Sequence[str]) -> float:
    clients = [server.another() for _ in range(CONNECTIONS)]
    shares = [texts[number::CONNECTIONS] for number in range(CONNECTIONS)]

    def ask_all(client: Server, share: Sequence[str]) -> None:
        for text in share:
            _post_search(client, _route("searchEntries"), text)
        client.rest()

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        began = time.perf_counter()
        list(pool.map(ask_all, clients, shares))
        return len(texts) / (time.perf_counter() - began)


def _reads(server: Server) -> dict[str, Ask]:
    entry_id = _first_id(server)
    return {
        SEARCH_API: partial(_post_search, server, _route("searchEntries")),
        SEARCH_MCP: partial(_tool, server, "searchEntries", _search),
        "recall over /api/v1": lambda text: _post(server, "recall", _recall(text)),
        "recall over MCP": partial(_tool, server, "recall", _recall),
        "getEntry over /api/v1": lambda _text: _post(server, "getEntry", {"id": entry_id}),
    }


def _writes(server: Server) -> dict[str, Ask]:
    def put(text: str) -> bytes:
        entry = {"kind": "note", "title": text, "body": {"text": f"It is about {text}."}}
        return _post(server, "upsertEntry", {"entry": entry})

    return {"upsertEntry over /api/v1": put}


def _size(ask: Ask) -> int:
    """Return the bytes of the middle answer, or 0 where an older server refuses the request."""
    asked = Memories(13).questions(9, HashEmbedder())
    try:
        return int(statistics.median(len(ask(one.text)) for one in asked))
    except RuntimeError:
        return 0


def _search(text: str) -> dict[str, Any]:
    return {"query": {"text": text, "maxResults": RESULTS}}


def _recall(text: str) -> dict[str, Any]:
    return {"query": text, "limit": RESULTS}


def _route(command: str) -> str:
    return f"/api/v1/{PROJECT}/{command}"


def _post(server: Server, command: str, request: dict[str, Any]) -> bytes:
    return server.post(_route(command), json.dumps(request).encode(), {})


def _post_search(server: Server, path: str, text: str) -> bytes:
    return server.post(path, json.dumps(_search(text)).encode(), {})


def _tool(server: Server, name: str, make: Callable[[str], dict[str, Any]], text: str) -> bytes:
    answer = server.message(REVISIONS[0], "tools/call", {"name": name, "arguments": make(text)})
    if b'"isError":true' in answer or b'"isError": true' in answer:
        raise RuntimeError(f"{name}: {answer[:500]!r}")
    return answer


def _first_id(server: Server) -> str:
    answer = _post(server, "listEntries", {"page": {"size": 1}})
    identity: str = json.loads(answer)["items"][0]["id"]
    return identity


def _wait_until_idle(server: Server) -> None:
    """Wait until a server does nothing for some seconds: after its first search it still reads."""
    _post(server, "searchEntries", _search("anything"))
    deadline, quiet_s = time.monotonic() + SETTLE_S, 0
    while quiet_s < QUIET_S:
        before = server.cpu_s()
        time.sleep(1.0)
        quiet_s = quiet_s + 1 if server.cpu_s() - before < QUIET_CPU_S else 0
        if time.monotonic() > deadline:
            raise RuntimeError(f"the server still works after {duration(SETTLE_S)}")
    server.rest()
