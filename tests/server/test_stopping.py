"""SIGTERM while clients write: what was begun is answered, and nothing is left to replay."""

import signal
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path

import msgspec
import pytest

from tests.support.load import PROJECT, WRITERS, Load, state_behind
from tests.support.mcp import MODERN, events
from tests.support.oracle import Oracle
from tests.support.server import ADMIN_KEY, ServerProcess, configured, store_folder
from tests.support.stores import assert_files_whole, lines_of, state_of_documents

EMPTY_JOURNAL_BYTES = 8
"""The mark at the beginning of the file, and no record."""


def end_under_load(root: Path, number: int) -> tuple[int, Oracle]:
    """Let clients write, send the signal, and return the exit code and what was answered."""
    oracle = Oracle(WRITERS)
    with ServerProcess(root, key=ADMIN_KEY) as server, Load(server, oracle) as load:
        load.wait_for(100)
        code = server.stop(number)
    return code, oracle


def is_folded(root: Path) -> bool:
    """Say whether a project's journal has nothing that the next start would replay."""
    journal = store_folder(root, PROJECT) / ".qms" / "journal.wal"
    return journal.stat().st_size == EMPTY_JOURNAL_BYTES


@pytest.mark.fault("F27")
def test_a_server_stopped_under_load_has_done_exactly_what_it_answered(tmp_path: Path) -> None:
    configured(tmp_path)

    code, oracle = end_under_load(tmp_path, signal.SIGTERM)

    assert code == 0
    assert is_folded(tmp_path)
    folder = store_folder(tmp_path, PROJECT)
    assert_files_whole(folder)
    answered = {key: text for state in oracle.states for key, text in state.items()}
    documents = [{"metadata": {}} | line for line in lines_of(folder / "entries.jsonl")]
    assert state_of_documents(documents) == answered
    with ServerProcess(tmp_path, key=ADMIN_KEY) as server:
        assert state_behind(server) == answered
        assert server.store(PROJECT)["pendingJournal"] == 0


@pytest.mark.fault("F27")
def test_a_server_killed_under_load_leaves_a_journal_to_replay(tmp_path: Path) -> None:
    configured(tmp_path)

    code, _ = end_under_load(tmp_path, signal.SIGKILL)

    assert code == -signal.SIGKILL
    assert not is_folded(tmp_path)


def listen(connection: HTTPConnection) -> HTTPResponse:
    """Open a stream of changes and return it once the server has said that it listens."""
    meta = {"protocolVersion": MODERN, "clientCapabilities": {}}
    params = {
        "notifications": {"toolsListChanged": True},
        "_meta": {f"io.modelcontextprotocol/{name}": value for name, value in meta.items()},
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params}
    headers = {
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "authorization": f"Bearer {ADMIN_KEY}",
        "mcp-protocol-version": MODERN,
        "mcp-method": "subscriptions/listen",
    }
    connection.request("POST", f"/mcp/{PROJECT}", msgspec.json.encode(message), headers)
    stream = connection.getresponse()
    while b"subscriptions/acknowledged" not in (line := stream.readline()):
        assert line, "the stream has ended"
    return stream


@pytest.mark.fault("F27")
def test_a_stop_ends_the_streams_of_clients_with_their_result(tmp_path: Path) -> None:
    configured(tmp_path)
    with ServerProcess(tmp_path, key=ADMIN_KEY) as server:
        connection = server.connect()
        stream = listen(connection)
        server.process.send_signal(signal.SIGTERM)
        # A stream that is cut off has no last chunk, and reading it raises.
        last = events(stream.read())[-1]
        code = server.wait()
        connection.close()

    assert "result" in last
    assert code == 0
