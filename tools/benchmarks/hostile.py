"""Calls of one client while another client keeps the server busy with hostile inputs."""

import http.client
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from qms.config.api_keys import hash_key
from tools.benchmarks.agents import wait_until
from tools.benchmarks.corpus import lines
from tools.benchmarks.measure import Plan, Row, duration
from tools.benchmarks.served import Client, serving

PROJECT = "default"
FIFO_PROJECT = "pipe"
CLIENT_KEY = "qms_client_of_the_bench"
HOSTILE_KEY = "qms_hostile_client_of_the_bench"
ATTACKERS = 4
"""Connections of the hostile client, each with a request always in flight."""

ANSWER_LIMIT_S = 120.0
SETTLED_S = 300.0
KILOBYTE, MEGABYTE = 1024, 1024 * 1024

_SETTINGS = """\
[global.embedding]
model = "hash"
[global.rate]
requestsPerMinute = 0
[endpoint.default]
slug = "default"
"""
_FIFO_SETTINGS = """\
[endpoint.pipe]
slug = "pipe"
"""


class Attack(msgspec.Struct, frozen=True):
    """A request that once froze the server."""

    name: str
    path: str
    body: bytes


def attacks(project: str = PROJECT) -> list[Attack]:
    """Return every input, at the size that once froze the server or larger."""
    command, reading = partial(_command, project), partial(_import, project)
    text = 60 * KILOBYTE
    return [
        reading("Markdown fences", "markdown", "~~~\n" + "```\n~~~ x\n" * (MEGABYTE // 10)),
        reading("Markdown headings", "markdown", "# a" + " #" * (MEGABYTE // 2) + "x"),
        reading("wiki links", "markdown", "[[a|" * (MEGABYTE // 4)),
        reading("front matter", "markdown", "---\n" + "---x\n" * (MEGABYTE // 5)),
        command(
            "fences in a text to mine", "extractMemories", {"text": "~~~ a\n``` b\n" * (text // 12)}
        ),
        command("texts like JWTs", "upsertEntry", _note("eyJ-" * (text // 4))),
        reading("CSV, 8 MB of a,b", "csv", "text,b\n" + "a,b\n" * (2 * MEGABYTE)),
        command("100,000 anyTags", "searchEntries", _search(filter={"anyTags": _texts(100_000)})),
        command("100,000 tags", "listEntries", {"filter": {"tags": _texts(100_000)}}),
        command("100,000 ids", "summaries", {"ids": _texts(100_000)}),
        command("search for 64 KB", "searchEntries", _search("word " * (64 * KILOBYTE // 5))),
    ]


FIFO = Attack("entries.jsonl is a FIFO", f"/api/v1/{FIFO_PROJECT}/listEntries", b"{}")


def hostile_rows(plan: Plan, folder: Path, *, only: tuple[str, ...] = ()) -> Iterator[Row]:
    """Measure health and searches without and then with each input."""
    chosen = [one for one in attacks() if not only or one.name in only]
    if chosen:
        with _served(folder / "root", plan.sizes[0]) as client:
            for attack in chosen:
                yield from _rows(plan, client, attack)
    if hasattr(os, "mkfifo") and (not only or FIFO.name in only):
        # In its own server: a loader thread that blocks on the pipe would slow the other figures.
        with _served(folder / "pipe", plan.sizes[0], has_fifo=True) as client:
            yield from _rows(plan, client, FIFO)


def _rows(plan: Plan, client: Client, attack: Attack) -> Iterator[Row]:
    calls = {
        "health": lambda: client.call("health", {}, PROJECT),
        "search": lambda: client.call("searchEntries", _search("parser tool"), PROJECT),
    }
    idle = {name: _slowest_s(plan.writes, call) for name, call in calls.items()}
    with _attacking(client.url, attack) as answered:
        beside = {name: _slowest_s(plan.writes, call) for name, call in calls.items()}
        count = answered()
    bound = plan.bounds["hostile-wait"]
    for name, slowest_s in beside.items():
        yield Row(
            subject=f"{attack.name}: {name}, p99",
            entries=plan.sizes[0],
            ours=f"– / {duration(slowest_s)}",
            raw=f"– / {duration(idle[name])} idle",
            figure=f"{slowest_s / idle[name]:.1f} × idle; {count} answered meanwhile",
            bound=str(bound),
            verdict=bound.judge(1e3 * slowest_s),
        )


def _slowest_s(calls: int, call: Callable[[], object]) -> float:
    """Return the p99 of the call times."""
    waits = []
    for _ in range(calls):
        began = time.perf_counter()
        call()
        waits.append(time.perf_counter() - began)
    return sorted(waits)[int(0.99 * calls)]


@contextmanager
def _attacking(url: str, attack: Attack) -> Iterator[Callable[[], int]]:
    """Keep requests in flight; yield a function that returns how many were answered."""
    done, has_begun = threading.Event(), threading.Barrier(ATTACKERS + 1)
    answers: list[int] = []

    def send() -> None:
        has_begun.wait()
        while not done.is_set():
            with suppress(OSError, http.client.HTTPException):
                answers.append(_post(url, attack))

    threads = [threading.Thread(target=send, daemon=True) for _ in range(ATTACKERS)]
    for thread in threads:
        thread.start()
    has_begun.wait()
    try:
        yield lambda: len(answers)
    finally:
        done.set()
        for thread in threads:
            thread.join(ANSWER_LIMIT_S)


def _post(url: str, attack: Attack) -> int:
    """Send the input once, over its own connection, and return the status."""
    address = urlsplit(url)
    connection = http.client.HTTPConnection(
        address.hostname or "", address.port, timeout=ANSWER_LIMIT_S
    )
    headers = {"Authorization": f"Bearer {HOSTILE_KEY}", "Content-Type": "application/json"}
    try:
        connection.request("POST", attack.path, attack.body, headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status
    finally:
        connection.close()


@contextmanager
def _served(root: Path, entries: int, *, has_fifo: bool = False) -> Iterator[Client]:
    users = _user("client", "admin", CLIENT_KEY) + _user("hostile", "writer", HOSTILE_KEY)
    folder = root / "MemoryStores" / PROJECT
    folder.mkdir(parents=True)
    content = b"".join(line + b"\n" for line in lines(PROJECT, entries))
    (folder / "entries.jsonl").write_bytes(content)
    if has_fifo:
        (root / "MemoryStores" / FIFO_PROJECT).mkdir()
        os.mkfifo(root / "MemoryStores" / FIFO_PROJECT / "entries.jsonl")
    settings = _SETTINGS + (_FIFO_SETTINGS if has_fifo else "") + users
    (root / "QuickMemoryServer.toml").write_text(settings, encoding="utf-8")
    with serving(root, key=CLIENT_KEY) as client:
        wait_until(lambda: client.is_searched(PROJECT), SETTLED_S)
        wait_until(lambda: client.has_vectors(PROJECT), SETTLED_S)
        yield client


def _user(name: str, tier: str, key: str) -> str:
    return (
        f'[users.{name}]\ntier = "{tier}"\n'
        f'keys = [{{ id = "{name}", sha256 = "{hash_key(key)}" }}]\n'
    )


def _command(project: str, name: str, command: str, request: object) -> Attack:
    return Attack(name, f"/api/v1/{project}/{command}", msgspec.json.encode(request))


def _import(project: str, name: str, form: str, content: str) -> Attack:
    body = {"project": project, "format": form, "content": content, "name": f"file.{form}"}
    return Attack(name, f"/admin/import/{project}", msgspec.json.encode(body))


def _search(text: str = "anything", **more: object) -> dict[str, object]:
    return {"query": {"text": text, **more}}


def _note(text: str) -> dict[str, object]:
    return {"entry": {"id": "hostile", "kind": "note", "body": text}}


def _texts(count: int) -> list[str]:
    return [f"t{number}" for number in range(count)]
