"""Cost of MCP and plain JSON against the bare libraries: CPU of a call, time to first answer."""

import copy
import http.client
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil

from tools.benchmarks.corpus import lines
from tools.benchmarks.measure import Bound, Plan, Row, Spent, both, duration, median_of
from tools.benchmarks.server_process import ServerProcess
from tools.benchmarks.slow_clients import slow_row

PROJECT = "default"
CALLED_ENTRIES = 100
"""The size of the called store: `getEntry` does not depend on it, its indexes do."""

STARTED_ENTRIES = 10_000
KEY = "qms_the_key_of_the_benchmark"
CONFIGURATION = f"""\
[global.embedding]
model = "hash"
[global.rate]
requestsPerMinute = 1000000
[endpoint.{PROJECT}]
slug = "{PROJECT}"
[users.admin]
tier = "admin"
apiKey = "{KEY}"
"""
WARM_UP = 200
TURN = 16
"""How many calls one server gets before it is the other's turn."""

LIMIT_S = 300.0
IDLE_CPU_S = 0.05
IS_LINUX = sys.platform == "linux"
REVISIONS = ("2026-07-28", "2025-11-25")
FORMS = ((REVISIONS[0], False), (REVISIONS[1], False), (REVISIONS[1], True))
"""What is called: a client of a session that follows the progress is answered by a stream, which
the bare server opens for every call."""

_META = "io.modelcontextprotocol/"


class Server:
    """A server in its own process, and one keep-alive connection to it."""

    def __init__(self, *command: str, checkout: Path | None = None) -> None:
        self.began = time.perf_counter()
        self._process = ServerProcess(*command, limit_s=LIMIT_S, checkout=checkout)
        self._connection = self._connect()
        self._session: dict[str, str] = {}

    def another(self) -> "Server":
        """Return another client of the same server."""
        other = copy.copy(self)
        other._connection = http.client.HTTPConnection(  # noqa: SLF001 - of this very class
            self._connection.host, self._connection.port
        )
        return other

    @property
    def address(self) -> tuple[str, int]:
        """Return its URL."""
        return self._connection.host, self._connection.port

    def close(self) -> None:
        """End the process."""
        self._connection.close()
        self._process.stop()

    def post(self, path: str, body: bytes, headers: dict[str, str]) -> bytes:
        """Send a request that must succeed and return the body of its answer."""
        usual = {"Content-Type": "application/json", "Authorization": f"Bearer {KEY}"}
        self._connection.request("POST", path, body, usual | headers)
        answer = self._connection.getresponse()
        content = answer.read()
        if answer.status not in (http.client.OK, http.client.ACCEPTED):
            raise RuntimeError(f"{path}: {answer.status} {content[:500]!r}")
        session = answer.headers.get("mcp-session-id")
        if session is not None:
            self._session = {"mcp-session-id": session}
        return content

    def message(self, revision: str, method: str, params: dict[str, Any]) -> bytes:
        """Send an MCP message and return the answer."""
        headers = {"Accept": "application/json, text/event-stream"}
        headers |= {"MCP-Protocol-Version": revision} | self._session
        if revision == REVISIONS[0]:
            meta = {f"{_META}protocolVersion": revision, f"{_META}clientCapabilities": {}}
            params = {**params, "_meta": meta}
            headers["Mcp-Method"] = method
            if "name" in params:
                headers["Mcp-Name"] = params["name"]
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return self.post(f"/mcp/{PROJECT}", json.dumps(message).encode(), headers)

    def begin(self, revision: str) -> None:
        """Open a session where the revision has one."""
        if revision == REVISIONS[0]:
            return
        info = {"name": "bench", "version": "1"}
        said = {"protocolVersion": revision, "capabilities": {}, "clientInfo": info}
        self.message(revision, "initialize", said)
        body = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
        headers = {"Accept": "application/json, text/event-stream", **self._session}
        self.post(f"/mcp/{PROJECT}", body, {**headers, "MCP-Protocol-Version": revision})

    def rest(self) -> None:
        """Drop the connection, which the server would close; the next request opens one."""
        self._connection.close()

    def lift_limit(self) -> None:
        """Let it run for as long as it takes."""
        self._process.lift_limit()

    def cpu_s(self) -> float:
        """Return how much CPU the process has used; on Linux to the nanosecond."""
        if IS_LINUX:
            # The number of a process's CPU clock, as in `clock_getcpuclockid`.
            return time.clock_gettime((~self._process.id << 3) | 2)
        times = psutil.Process(self._process.id).cpu_times()
        return float(times.user + times.system)

    def _connect(self) -> http.client.HTTPConnection:
        address = urlsplit(self._process.wait_until_listening()["listening"])
        return http.client.HTTPConnection(address.hostname or "", address.port)


def mcp_rows(plan: Plan, scratch: Path) -> Iterator[Row]:
    """Measure calls of a small store and the start of a large one, against the bare servers."""
    with _running(*_qms(_made_root(scratch / "called", CALLED_ENTRIES))) as ours:
        entry_id = _first_id(ours)
        _wait_until_idle(ours)
        for revision, is_followed in FORMS:
            with _running(*_bare("sdk")) as bare:
                yield _tool_row(plan, ours, bare, revision, entry_id, is_followed=is_followed)
        with _running(*_bare("route")) as bare:
            yield _route_row(plan, ours, bare, entry_id)
        ours.rest()
        yield slow_row(plan, ours.address, partial(ours.post, *_get_entry(entry_id)))
    yield from _start_rows(plan, _made_root(scratch / "started", STARTED_ENTRIES))


def _tool_row(
    plan: Plan, ours: Server, bare: Server, revision: str, entry_id: str, *, is_followed: bool
) -> Row:
    params: dict[str, Any] = {"name": "getEntry", "arguments": {"id": entry_id}}
    if is_followed:
        params["_meta"] = {"progressToken": "p"}
    calls = []
    for server in (ours, bare):
        server.rest()
        server.begin(revision)
        calls.append((server, partial(server.message, revision, "tools/call", params)))
    subject = f"getEntry as a tool, {revision}{', as a stream' if is_followed else ''}"
    return _ratio_row(subject, _alternate(plan, *calls), plan.bounds["tool-ratio"])


def _route_row(plan: Plan, ours: Server, bare: Server, entry_id: str) -> Row:
    calls = [(server, partial(server.post, *_get_entry(entry_id))) for server in (ours, bare)]
    ours.rest()
    spent = _alternate(plan, *calls)
    return _ratio_row("getEntry over plain JSON", spent, plan.bounds["route-ratio"])


def _get_entry(entry_id: str) -> tuple[str, bytes, dict[str, str]]:
    return f"/api/v1/{PROJECT}/getEntry", json.dumps({"id": entry_id}).encode(), {}


def _start_rows(plan: Plan, root: Path) -> Iterator[Row]:
    def start(command: tuple[str, ...]) -> Spent:
        with _running(*command) as server:
            server.message(REVISIONS[0], "tools/list", {})
            return Spent(time.perf_counter() - server.began, server.cpu_s())

    commands = (_qms(root), _bare("sdk"))
    for command in commands:
        start(command)  # Compiles the modules that were not imported yet.
    rounds = [[start(command) for command in commands] for _ in range(plan.rounds)]
    ours, bare = (median_of([one[side] for one in rounds]) for side in (0, 1))
    by_cpu = statistics.median(one[0].cpu_s / one[1].cpu_s for one in rounds)
    # Other work on the machine slows one start and not the next, so the best of each counts.
    by_clock = min(one[0].wall_s for one in rounds) / min(one[1].wall_s for one in rounds)
    bound = plan.bounds["start-ratio"]
    for ratio, of_what in ((by_cpu, "the CPU"), (by_clock, "the quickest, by the clock,")):
        yield Row(
            subject="process start to the first MCP answer",
            entries=STARTED_ENTRIES,
            ours=both(ours),
            raw=both(bare),
            figure=f"{ratio:.2f} × {of_what} of the bare SDK's server",
            bound=str(bound),
            verdict=bound.judge(ratio),
        )


def _alternate(plan: Plan, *calls: tuple[Server, Callable[[], object]]) -> list[list[Spent]]:
    """Call each server in turn and return the cost of one call in each round, by server.

    They take turns after a few calls, since the machine's speed changes from second to second.
    """
    for server, call in calls:
        for _ in range(WARM_UP):
            call()
        server.rest()
    spent: list[list[Spent]] = [[] for _ in calls]
    for _ in range(plan.rounds):
        began = [server.cpu_s() for server, _ in calls]
        walls = [0.0] * len(calls)
        for _ in range(plan.writes // TURN):
            for side, (_, call) in enumerate(calls):
                wall = time.perf_counter()
                for _ in range(TURN):
                    call()
                walls[side] += time.perf_counter() - wall
        for side, (server, _) in enumerate(calls):
            used = Spent(walls[side], server.cpu_s() - began[side])
            spent[side].append(used.per(plan.writes // TURN * TURN))
            server.rest()
    return spent


def _ratio_row(subject: str, spent: list[list[Spent]], bound: Bound) -> Row:
    ours, bare = spent
    ratio = statistics.median(
        one.cpu_s / other.cpu_s for one, other in zip(ours, bare, strict=True)
    )
    return Row(
        subject=subject,
        entries=CALLED_ENTRIES,
        ours=both(median_of(ours)),
        raw=both(median_of(bare)),
        figure=f"{ratio:.2f} × the CPU of the bare one",
        bound=str(bound),
        verdict=bound.judge(ratio),
    )


def _made_root(root: Path, entries: int) -> Path:
    folder = root / "MemoryStores" / PROJECT
    folder.mkdir(parents=True)
    content = b"".join(line + b"\n" for line in lines(PROJECT, entries))
    (folder / "entries.jsonl").write_bytes(content)
    (root / "QuickMemoryServer.toml").write_text(CONFIGURATION, encoding="utf-8")
    return root


def _qms(root: Path) -> tuple[str, ...]:
    return "qms.cli.server", "serve", "--port", "0", "--root", str(root)


def _bare(kind: str) -> tuple[str, ...]:
    return "tools.benchmarks.bare_servers", kind


@contextmanager
def _running(*command: str) -> Iterator[Server]:
    server = Server(*command)
    try:
        yield server
    finally:
        server.close()


def _first_id(server: Server) -> str:
    answer = server.post(f"/api/v1/{PROJECT}/listEntries", b'{"page":{"size":1}}', {})
    identity: str = json.loads(answer)["items"][0]["id"]
    return identity


def _wait_until_idle(server: Server) -> None:
    """Wait until the server has built its indexes, which must not count for a call."""
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        report = json.loads(server.post(f"/api/v1/{PROJECT}/health", b"{}", {}))
        before = server.cpu_s()
        time.sleep(1.0)
        is_done = all(store["embeddingBacklog"] == 0 for store in report["stores"])
        if is_done and server.cpu_s() - before < IDLE_CPU_S:
            return
    raise RuntimeError(f"the server still works after {duration(LIMIT_S)}")
