"""Load test: many agents send bursts of calls with pauses between them."""

import asyncio
import random
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import psutil

from qms.config.api_keys import hash_key
from tools.benchmarks.corpus import documents, lines, text_of

SHARES = {"searchEntries": 90, "upsertEntry": 8, "listEntries": 2}
PATIENT_STATUSES = frozenset({429, 503})
"""Statuses of an overloaded server; allowed if it sends Retry-After."""

SAMPLE_S = 0.5

REVISED = 20
"""How many memories an agent writes before it rewrites them, so that later growth is a leak."""

_SIXTHS = 6
_MAX_FAULTS = 20


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """Agents, rates and duration of a load test, and the size of its stores."""

    agents: int = 50
    burst: int = 8
    think_s: float = 3.0
    """The mean of the time between two bursts of an agent."""
    seconds: float = 60.0
    stores: int = 10
    entries: int = 20_000
    """In all stores together."""

    def projects(self) -> list[str]:
        """Return the names of the stores."""
        return [f"load{number}" for number in range(self.stores)]

    def keys(self) -> list[str]:
        """Return the keys of the agents."""
        return [f"qms_agent_{number:04}_of_the_load" for number in range(self.agents)]


class Met(msgspec.Struct):
    """The results of a load test."""

    seconds_of: dict[str, list[float]] = msgspec.field(default_factory=lambda: defaultdict(list))
    statuses: Counter[int] = msgspec.field(default_factory=Counter)
    faults: list[str] = msgspec.field(default_factory=list)
    memory: list[tuple[float, int]] = msgspec.field(default_factory=list)
    """Resident bytes of the server, by the completed fraction of the run."""

    def quantile(self, share: float) -> float:
        """Return a percentile of the call times."""
        every = sorted(second for seconds in self.seconds_of.values() for second in seconds)
        return every[min(len(every) - 1, int(share * len(every)))] if every else 0.0

    def growth(self) -> float:
        """Return the memory of the last sixth over that of the second: 1.0 is flat."""
        return self._sixth(_SIXTHS - 1) / self._sixth(1)

    def summary(self) -> str:
        """Return the results in one line."""
        calls = sum(self.statuses.values())
        megabytes = self._sixth(_SIXTHS - 1) / 1e6
        return (
            f"{calls:,} calls, p50 {1e3 * self.quantile(0.5):.0f} ms,"
            f" p99 {1e3 * self.quantile(0.99):.0f} ms, statuses {dict(self.statuses)},"
            f" {megabytes:.0f} MB, memory {self.growth():.3f} ×"
        )

    def _sixth(self, number: int) -> float:
        low, high = number / _SIXTHS, (number + 1) / _SIXTHS
        return statistics.fmean(size for part, size in self.memory if low <= part < high)


def make_root(root: Path, load: Load) -> None:
    """Make a root with filled stores and a key for each agent."""
    parts = ['[global.embedding]\nmodel = "hash"\n']
    parts += [f'[endpoint.{project}]\nslug = "{project}"\n' for project in load.projects()]
    parts += [
        f'[users.agent{number}]\ntier = "admin"\n'
        f'keys = [{{ id = "{number:04}", sha256 = "{hash_key(key)}" }}]\n'
        for number, key in enumerate(load.keys())
    ]
    root.mkdir(exist_ok=True)
    (root / "QuickMemoryServer.toml").write_text("".join(parts), encoding="utf-8")
    for project in load.projects():
        folder = root / "MemoryStores" / project
        folder.mkdir(parents=True)
        content = lines(project, load.entries // load.stores)
        (folder / "entries.jsonl").write_bytes(b"".join(line + b"\n" for line in content))


def wait_until(condition: Callable[[], object], within_s: float) -> None:
    """Poll until `condition` holds.

    Raises:
        TimeoutError: it does not hold in time.
    """
    end = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("the server is not ready")
        time.sleep(SAMPLE_S)


def put_load_on(url: str, process_id: int, load: Load, met: Met | None = None) -> Met:
    """Let the agents call a server for the duration of the load, and return the results.

    A caller that watches the run passes the object that is filled during it.
    """
    return asyncio.run(_put_load_on(url, process_id, load, Met() if met is None else met))


async def _put_load_on(url: str, process_id: int, load: Load, met: Met) -> Met:
    agents = [_Agent(url, key, load, number) for number, key in enumerate(load.keys())]
    # First all calls at once, uncounted, so that the memory of this peak is no growth later.
    await asyncio.gather(*(agent.burst(Met()) for agent in agents))
    began = time.monotonic()
    working = [agent.work(began + load.seconds, met) for agent in agents]
    await asyncio.gather(_watch_memory(process_id, load, began, met), *working)
    return met


async def _watch_memory(process_id: int, load: Load, began: float, met: Met) -> None:
    process = psutil.Process(process_id)
    with suppress(psutil.NoSuchProcess):
        await _sample_memory(process, load, began, met)


async def _sample_memory(process: psutil.Process, load: Load, began: float, met: Met) -> None:
    while (part := (time.monotonic() - began) / load.seconds) < 1:
        met.memory.append((part, process.memory_info().rss))
        await asyncio.sleep(SAMPLE_S)


class _Agent:
    """One agent: some kept-alive connections, one key, one project at a time."""

    def __init__(self, url: str, key: str, load: Load, number: int) -> None:
        self._load = load
        self._chance = random.Random(number)
        self._project = load.projects()[number % load.stores]
        self._calls = _calls(self._project, number, self._chance)
        self._connections = [_Connection(url, key) for _ in range(load.burst)]

    async def burst(self, met: Met) -> None:
        await asyncio.gather(*(self._call(one, met) for one in self._connections))

    async def work(self, until: float, met: Met) -> None:
        await asyncio.sleep(self._chance.uniform(0, self._load.think_s))
        while time.monotonic() < until:
            await self.burst(met)
            await asyncio.sleep(self._chance.uniform(0, 2 * self._load.think_s))
        for connection in self._connections:
            connection.close()

    async def _call(self, connection: "_Connection", met: Met) -> None:
        command, request = next(self._calls)
        began = time.perf_counter()
        try:
            status, headers = await connection.call(self._project, command, request)
        except (OSError, EOFError) as error:
            connection.close()
            _note(met, f"{command}: {type(error).__name__}")
            return
        met.seconds_of[command].append(time.perf_counter() - began)
        met.statuses[status] += 1
        if status != 200 and not (status in PATIENT_STATUSES and b"retry-after:" in headers):
            _note(met, f"{command}: {status}")


class _Connection:
    """A kept-alive connection, opened when it is needed."""

    def __init__(self, url: str, key: str) -> None:
        address = urlsplit(url)
        self._host, self._port = address.hostname or "", address.port or 0
        self._key = key
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def call(self, project: str, command: str, request: dict[str, Any]) -> tuple[int, bytes]:
        if self._streams is None:
            self._streams = await asyncio.open_connection(self._host, self._port)
        reader, writer = self._streams
        body = msgspec.json.encode(request)
        head = (
            f"POST /api/v1/{project}/{command} HTTP/1.1\r\nHost: {self._host}:{self._port}\r\n"
            f"X-Api-Key: {self._key}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode() + body)
        headers = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(headers.partition(b"content-length:")[2].partition(b"\r\n")[0])
        await reader.readexactly(length)
        if b"connection: close" in headers:
            self.close()
        return int(headers.split(b" ", 2)[1]), headers

    def close(self) -> None:
        """Close the connection; the next call opens another."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


def _calls(
    project: str, number: int, chance: random.Random
) -> Iterator[tuple[str, dict[str, Any]]]:
    given = list(documents(project, 200, seed=number))
    revisions = count()
    while True:
        entry = chance.choice(given)
        (command,) = chance.choices(list(SHARES), weights=list(SHARES.values()))
        match command:
            case "searchEntries":
                text = " ".join(chance.sample(entry["title"].split(), 2))
                yield command, {"query": {"text": text, "maxResults": 10}}
            case "upsertEntry":
                own = given[next(revisions) % REVISED]
                known = {name: own[name] for name in ("kind", "title", "tags")}
                revised = {**known, "body": text_of(entry)}
                yield command, {"entry": revised, "onDuplicateTitle": "update"}
            case _:
                yield command, {"page": {"size": 20}}


def _note(met: Met, fault: str) -> None:
    if len(met.faults) < _MAX_FAULTS:
        met.faults.append(fault)
