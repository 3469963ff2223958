"""Retrieval scores through the HTTP API: import, wait for the vectors, search, score."""

import secrets
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tools.benchmarks.retrieval_entries import Form, entries_of, names_of
from tools.benchmarks.retrieval_scores import TOP, Answered, score
from tools.benchmarks.retrieval_sets import MemorySet
from tools.benchmarks.served import Client, serving

BATCH = 200
POLL_S = 0.5
KEY_NAME = "scorer-key.txt"
TOML = """\
[global.rate]
requestsPerMinute = 0
[endpoint.shared]
slug = "shared"
[users.scorer]
tier = "admin"
apiKey = "{key}"
"""


STORES_A_SERVER = 25
"""How many stores each started server gets; LongMemEval has 500."""


class NotEmptyError(Exception):
    """A project contains other memories than those to be imported."""


class Guest:
    """Scores a running server; each store uses the next of its projects."""

    def __init__(self, url: str, key: str, prefix: str) -> None:
        self._client = Client(url, key, process_id=0)
        self._prefix = prefix
        self._used = 0

    def answers(self, stores: Sequence[MemorySet], form: Form) -> Iterator[Answered]:
        """Import the stores and yield what their questions scored."""
        for given in stores:
            self._used += 1
            yield from _ask(self._client, f"{self._prefix}-{self._used}", given, form)


class Host:
    """Starts its own servers, on roots inside a folder; an existing root is reused."""

    def __init__(self, folder: Path, prefix: str) -> None:
        self._folder = folder
        self._prefix = prefix

    def answers(self, stores: Sequence[MemorySet], form: Form) -> Iterator[Answered]:
        """Import the stores and yield what their questions scored."""
        for start in range(0, len(stores), STORES_A_SERVER):
            chosen = stores[start : start + STORES_A_SERVER]
            kind = "plain" if form.plain else "whole"
            root = self._folder / f"{chosen[0].set}-{kind}-{form.times}-{start}"
            projects = [f"{self._prefix}-{start + n}" for n in range(1, len(chosen) + 1)]
            key = _make_root(root, projects)
            with serving(root, key) as client:
                for project, given in zip(projects, chosen, strict=True):
                    yield from _ask(client, project, given, form)


def _make_root(root: Path, projects: Sequence[str]) -> str:
    """Make a root with these projects unless it exists; return its key."""
    kept = root / KEY_NAME
    if not kept.exists():
        key = f"qms_{secrets.token_urlsafe(32)}"
        endpoints = (f'[endpoint.{project}]\nslug = "{project}"\n' for project in projects)
        root.mkdir(parents=True, exist_ok=True)
        settings = TOML.format(key=key) + "".join(endpoints)
        (root / "QuickMemoryServer.toml").write_text(settings, encoding="utf-8")
        kept.write_text(key, encoding="utf-8")
    return kept.read_text(encoding="utf-8")


def _ask(client: Client, project: str, given: MemorySet, form: Form) -> Iterator[Answered]:
    """Import a set into an empty project, or use one that holds it already; yield its answers.

    Raises:
        NotEmptyError: the project holds other memories.
    """
    _import(client, project, given, form)
    _wait_for_vectors(client, project)
    for question in given.questions:
        query = {"text": question.text, "maxResults": TOP}
        answer = client.call("searchEntries", {"query": query, "include": "ids"}, project)
        found = [result["entry"]["id"] for result in answer["results"]]
        yield question, score(names_of(given, project, found), question.gold)


def _import(client: Client, project: str, given: MemorySet, form: Form) -> None:
    entries = list(entries_of(given, project, form))
    # A first search waits for the store's indexes, so that the backlog counts every entry.
    client.call("searchEntries", {"query": {"maxResults": 1}}, project)
    held = _store(client, project)["entries"]
    if held == len(entries):
        client.call("getEntry", {"id": entries[-1]["id"]}, project)
        return
    if held:
        raise NotEmptyError(f"{project} holds {held} entries already")
    for start in range(0, len(entries), BATCH):
        request = {"entries": entries[start : start + BATCH], "onError": "abort"}
        answer = client.call("bulkImport", request, project)
        if answer["errors"]:
            raise RuntimeError(f"{project}: {answer['errors'][0]}")


def _wait_for_vectors(client: Client, project: str) -> None:
    began = time.monotonic()
    while waiting := _store(client, project)["embeddingBacklog"]:
        print(f"\r{project}: {waiting} wait for vectors  ", end="", file=sys.stderr, flush=True)
        time.sleep(POLL_S)
    print(f"\r{project}: embedded in {time.monotonic() - began:.0f} s   ", file=sys.stderr)


def _store(client: Client, project: str) -> Any:
    stores = client.call("health", {}, project)["stores"]
    return next(store for store in stores if store["name"] == project)
