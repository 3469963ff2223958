"""Compares our server with other memory servers on the same entries and queries."""

import random
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from qms.memory.entry import Document
from tools.benchmarks.corpus import documents, text_of
from tools.benchmarks.mcp_served import CONFIGURATION, KEY
from tools.benchmarks.measure import Spent, both
from tools.benchmarks.peer_talks import HttpTalk, RefusedError, StdioTalk, Talk, own_program
from tools.toolbox import command_of

WRITES_OF_CLIENT = 60
SAMPLES = 100
SHOWN = 10
SETTLED_S = 120.0
IDLE_CPU_S = 0.05
LOOK_AGAIN_S = 3.0

Call = tuple[str, Mapping[str, Any]]


class Peer(msgspec.Struct, frozen=True, kw_only=True):
    """A memory server: how to start it and how to call it."""

    name: str
    start: Callable[[Path], Talk]
    join: Callable[[Path, Talk], Talk]
    """A second client of the same memory."""
    store: Callable[[Document], Call]
    bulk: Callable[[Sequence[Document]], Call] | None = None
    search: Callable[[str], Call]


class Figures(msgspec.Struct, kw_only=True):
    """The figures of one server."""

    name: str
    cold: Spent
    tools_bytes: int
    bulk_per_s: float | None
    stored: Spent
    searched: Spent
    found_phrases: float
    found_words: float
    answered: int
    """Writes of two concurrent clients that were not refused."""
    kept: int

    def cells(self) -> list[str]:
        """Return its column of the table."""
        return [
            self.name,
            both(self.cold),
            f"{self.tools_bytes:,}",
            "–" if self.bulk_per_s is None else f"{self.bulk_per_s:,.0f}",
            both(self.stored),
            both(self.searched),
            f"{self.found_phrases:.0%}",
            f"{self.found_words:.0%}",
            f"{self.kept} of {self.answered}",
        ]


ROWS = (
    "",
    "start to the first list of tools (CPU / wall)",
    "`tools/list`, bytes",
    "bulk, entries per CPU second, indexes included",
    "store one (CPU / wall)",
    "search (CPU / wall)",
    f"found in {SHOWN}: two words that stand together in the title",
    f"found in {SHOWN}: three words of the text, in any order",
    "two clients at once: writes kept, of those that were answered",
)


def measure(peer: Peer, folder: Path, entries: int) -> Figures:
    """Measure one server on its own folders."""
    every = list(documents("default", entries + SAMPLES))
    filling, single = every[:entries], every[entries:]
    root = folder / "filled"
    root.mkdir()
    began = time.perf_counter()
    talk = peer.start(root)
    try:
        listed = talk.list_tools()
        cold = Spent(time.perf_counter() - began, talk.cpu_s())
        bulk_per_s = _fill(peer, talk, filling)
        stored = _spend(talk, [partial(talk.call, *peer.store(one)) for one in single])
        sample = random.Random(1).sample(filling, SAMPLES)
        answers: list[str] = []
        phrases = [" ".join(one["title"].split()[1:3]) for one in sample]
        words = [" ".join(random.Random(2).sample(text_of(one).split(), 3)) for one in sample]
        searched = _spend(
            talk,
            [partial(_search, peer, talk, text, answers) for text in (*phrases, *words)],
        )
    finally:
        talk.close()
    answered, kept = _two_clients(peer, folder / "shared")
    found = [one["title"] in answer for one, answer in zip(sample * 2, answers, strict=True)]
    return Figures(
        name=peer.name,
        cold=cold,
        tools_bytes=len(listed),
        bulk_per_s=bulk_per_s,
        stored=stored,
        searched=searched,
        found_phrases=sum(found[:SAMPLES]) / SAMPLES,
        found_words=sum(found[SAMPLES:]) / SAMPLES,
        answered=answered,
        kept=kept,
    )


def table(figures: Sequence[Figures]) -> str:
    """Return the figures as a Markdown table, one column for each server."""
    columns = [list(ROWS), *(one.cells() for one in figures)]
    lines = [" | ".join(cells) for cells in zip(*columns, strict=True)]
    rule = " | ".join("---" for _ in columns)
    return "\n".join(f"| {line} |" for line in (lines[0], rule, *lines[1:]))


def _fill(peer: Peer, talk: Talk, filling: Sequence[Document]) -> float | None:
    if peer.bulk is None:
        for one in filling:
            talk.call(*peer.store(one))
        _settle(talk)
        return None
    _settle(talk)
    before = talk.cpu_s()
    talk.call(*peer.bulk(filling))
    _settle(talk)
    return len(filling) / (talk.cpu_s() - before)


def _settle(talk: Talk) -> None:
    """Wait until a server is idle, since its background work belongs to earlier calls."""
    end = time.monotonic() + SETTLED_S
    while time.monotonic() < end:
        before = talk.cpu_s()
        time.sleep(LOOK_AGAIN_S)
        if talk.cpu_s() - before < IDLE_CPU_S:
            return


def _spend(talk: Talk, actions: Sequence[Callable[[], object]]) -> Spent:
    wall, cpu = time.perf_counter(), talk.cpu_s()
    for action in actions:
        action()
    return Spent(time.perf_counter() - wall, talk.cpu_s() - cpu).per(len(actions))


def _search(peer: Peer, talk: Talk, text: str, answers: list[str]) -> None:
    try:
        answers.append(talk.call(*peer.search(text)))
    except RefusedError:
        answers.append("")


def _two_clients(peer: Peer, root: Path) -> tuple[int, int]:
    """Let two clients write at once; return how many writes were answered and later found."""
    root.mkdir()
    every = list(documents("default", 2 * WRITES_OF_CLIENT, seed=7))
    answered: list[Document] = []
    first = peer.start(root)
    second = peer.join(root, first)

    def write(talk: Talk, given: Sequence[Document]) -> None:
        for one in given:
            try:
                talk.call(*peer.store(one))
            except RefusedError as refusal:
                print(f"{peer.name} refuses a write: {refusal}", file=sys.stderr, flush=True)
                continue
            answered.append(one)

    halves = (every[:WRITES_OF_CLIENT], every[WRITES_OF_CLIENT:])
    threads = [
        threading.Thread(target=write, args=pair)
        for pair in zip((first, second), halves, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    second.close()
    first.close()
    last = peer.start(root)
    try:
        answers: list[str] = []
        for one in answered:
            _search(peer, last, one["title"], answers)
    finally:
        last.close()
    found = [one["title"] in answer for one, answer in zip(answered, answers, strict=True)]
    return len(answered), sum(found)


def _again(peer_start: Callable[[Path], Talk]) -> Callable[[Path, Talk], Talk]:
    return lambda root, _first: peer_start(root)


def _ours(start: Callable[[Path], Talk], join: Callable[[Path, Talk], Talk], name: str) -> Peer:
    def entry(document: Document) -> dict[str, Any]:
        return {name: document[name] for name in ("kind", "title", "body", "tags")}

    return Peer(
        name=name,
        start=start,
        join=join,
        store=lambda one: ("upsertEntry", {"entry": entry(one)}),
        bulk=lambda many: ("bulkImport", {"entries": [entry(one) for one in many]}),
        search=lambda text: ("searchEntries", {"query": {"text": text, "maxResults": SHOWN}}),
    )


def _configured(root: Path) -> Path:
    settings = root / "QuickMemoryServer.toml"
    if not settings.exists():  # a second client must not end the sessions of the first
        settings.write_text(CONFIGURATION, encoding="utf-8")
    return root


def _start_http(root: Path) -> Talk:
    return HttpTalk(_configured(root))


def _join_http(root: Path, first: Talk) -> Talk:
    assert isinstance(first, HttpTalk)
    return HttpTalk(root, first)


def _start_stdio(root: Path) -> Talk:
    program = own_program(_configured(root))
    return StdioTalk(program, {"QMS_KEY": KEY}, root / "stderr.log")


def _start_official(root: Path) -> Talk:
    return StdioTalk(
        command_of("server-memory") or [],
        {"MEMORY_FILE_PATH": str(root / "memory.jsonl")},
        root / "stderr.log",
    )


def _start_service(root: Path) -> Talk:
    interpreter = (command_of("mcp-memory-service") or [""])[0]
    settings = {
        "MCP_MEMORY_STORAGE_BACKEND": "sqlite_vec",
        "MCP_MEMORY_BASE_DIR": str(root),
        "MCP_MEMORY_ALLOW_HASH_EMBEDDINGS": "1",
        "HF_HUB_OFFLINE": "1",
    }
    program = [str(Path(interpreter).parent / "memory"), "server"]
    return StdioTalk(program, settings, root / "stderr.log")


def _start_basic(root: Path) -> Talk:
    interpreter = (command_of("basic-memory") or [""])[0]
    settings = {
        "HOME": str(root),
        "BASIC_MEMORY_HOME": str(root / "notes"),
        "BASIC_MEMORY_CONFIG_DIR": str(root / "config"),
        "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false",  # there is no model to be had
        "BASIC_MEMORY_AUTO_UPDATE": "false",
        "FASTMCP_CHECK_FOR_UPDATES": "off",
    }
    program = [str(Path(interpreter).parent / "basic-memory"), "mcp"]
    return StdioTalk(program, settings, root / "stderr.log")


def _note(document: Document) -> dict[str, Any]:
    """Return an entry as a note in the folder of its ten minutes, where its title is unique."""
    return {
        "title": document["title"],
        "content": text_of(document),
        "directory": document["timestamps"]["createdUtc"][:15],
        "tags": document["tags"],
    }


def _named(document: Document) -> dict[str, Any]:
    kind, text = document["kind"], text_of(document)
    return {"name": document["title"], "entityType": kind, "observations": [text]}


OFFICIAL = Peer(
    name="server-memory",
    start=_start_official,
    join=_again(_start_official),
    store=lambda one: ("create_entities", {"entities": [_named(one)]}),
    bulk=lambda many: ("create_entities", {"entities": [_named(one) for one in many]}),
    search=lambda text: ("search_nodes", {"query": text}),
)
SERVICE = Peer(
    name="mcp-memory-service",
    start=_start_service,
    join=_again(_start_service),
    store=lambda one: ("memory_store", {"content": f"{one['title']}\n{text_of(one)}"}),
    search=lambda text: ("memory_search", {"query": text, "mode": "hybrid", "limit": SHOWN}),
)
BASIC = Peer(
    name="basic-memory",
    start=_start_basic,
    join=_again(_start_basic),
    store=lambda one: ("write_note", _note(one)),
    search=lambda text: ("search_notes", {"query": text, "page_size": SHOWN}),
)
OURS = (
    _ours(_start_http, _join_http, "ours over HTTP"),
    _ours(_start_stdio, _again(_start_stdio), "ours over stdio"),
)


def peers() -> tuple[list[Peer], list[str]]:
    """Return every installed server, ours first, and the names of the missing ones."""
    others = (OFFICIAL, SERVICE, BASIC)
    there = [peer for peer in others if command_of(peer.name) is not None]
    return [*OURS, *there], [peer.name for peer in others if peer not in there]
