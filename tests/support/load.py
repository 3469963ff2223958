"""Clients that write to a server over HTTP as an oracle knows, until the server goes away."""

import threading
from http.client import HTTPException
from itertools import count
from types import TracebackType
from typing import Any

from tests.support.oracle import Operation, Oracle, operation
from tests.support.server import Client, ServerProcess
from tests.support.stores import SHARED, State, state_of_documents

WRITERS = 8
PROJECT = "projA"
_BOUND_S = 60.0
_WHOLE_STORE = {"include": "full", "page": {"size": 200}}


class Load:
    """Runs in its `with` block, which must end the server; leaving it waits for every client."""

    def __init__(self, server: ServerProcess, oracle: Oracle) -> None:
        self._server = server
        self._oracle = oracle
        self._changed = threading.Condition()
        self._faults: list[str] = []
        self._threads = [
            threading.Thread(target=self._run, args=(writer,), daemon=True)
            for writer in range(WRITERS)
        ]

    def __enter__(self) -> "Load":
        make_shared_entry(self._server)
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        if _error is not None:
            self._server.kill()
        for thread in self._threads:
            thread.join(_BOUND_S)
            assert not thread.is_alive(), "a client still waits for an answer"
        assert self._faults == []

    def wait_for(self, answers: int) -> None:
        """Return once the clients have got so many more answers."""
        with self._changed:
            enough = self._oracle.acknowledged + answers
            done = self._changed.wait_for(
                lambda: self._oracle.acknowledged >= enough or self._faults, _BOUND_S
            )
            assert done, "the server does not answer"

    def _run(self, writer: int) -> None:
        try:
            with self._server.client(PROJECT) as client:
                for number in count(self._oracle.next_numbers[writer]):
                    self._hear("i", writer, number)
                    ask(client, operation(writer, number), self._oracle.states[writer])
                    self._hear("a", writer, number)
        except (ConnectionError, HTTPException):
            return  # the server is gone
        except Exception as error:
            with self._changed:
                self._faults.append(f"{type(error).__name__}: {error}")
                self._changed.notify_all()

    def _hear(self, kind: str, writer: int, number: int) -> None:
        with self._changed:
            self._oracle.hear(f"{kind} {writer} {number}")
            self._changed.notify_all()


def make_shared_entry(server: ServerProcess) -> None:
    """Make the one entry that all writers patch, unless it is there."""
    with server.client(PROJECT) as client:
        if client.send("getEntry", {"id": SHARED}).status == 404:
            client("upsertEntry", entry=_entry(SHARED, "shared by all"))


def ask(client: Client, asked: Operation, known: State) -> None:
    """Have an operation of the oracle done, and check what it is answered with."""
    key, text = next(iter(asked.changes.items()))
    local, _, slot = key.partition("/")
    match asked.verb:
        case "deleteEntry":
            status = client.send("deleteEntry", {"id": local}).status
            assert status == (200 if key in known else 404)
        case "bulkImport":
            entries = [_entry(name, text or "") for name, text in asked.changes.items()]
            answer = client("bulkImport", entries=entries, onError="abort")
            assert (answer["imported"] + answer["updated"], answer["errors"]) == (len(entries), [])
        case "patchEntry" if slot or key in known:
            patch = {"metadata": {slot: text}} if slot else {"body": {"text": text}}
            client("patchEntry", id=local, patch=patch)
        case _:
            client("upsertEntry", entry=_entry(local, text or ""))


def state_behind(server: ServerProcess) -> State:
    """Return what the server holds, as the oracle describes it."""
    items = server.call(PROJECT, "listEntries", **_WHOLE_STORE)["items"]
    return state_of_documents([{"metadata": {}} | item for item in items])


def _entry(local: str, text: str) -> dict[str, Any]:
    return {"id": local, "kind": "note", "title": local, "body": {"text": text}}
