"""Attacks on a server with a real port and a real log."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import msgspec
import pytest

from qms.http.guard import MAX_STREAMS_OF_KEY
from tests.support.mcp import MODERN
from tests.support.running import RunningServer
from tests.support.server import ADMIN_KEY, ServerProcess, configured
from tests.support.waiting import eventually

_META = "io.modelcontextprotocol/"
LISTEN = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "subscriptions/listen",
    "params": {
        "notifications": {"resourcesListChanged": True},
        "_meta": {f"{_META}protocolVersion": MODERN, f"{_META}clientCapabilities": {}},
    },
}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    running = RunningServer(configured(tmp_path), ADMIN_KEY)
    yield running
    running.stop()


def posted(server: RunningServer, body: bytes, method: str) -> bytes:
    head = (
        "POST /mcp/projA HTTP/1.1",
        f"Host: 127.0.0.1:{server.port}",
        f"Authorization: Bearer {ADMIN_KEY}",
        "Accept: application/json, text/event-stream",
        "Content-Type: application/json",
        f"MCP-Protocol-Version: {MODERN}",
        f"Mcp-Method: {method}",
        f"Content-Length: {len(body)}",
    )
    return "\r\n".join((*head, "", "")).encode() + body


def listen(server: RunningServer, connections: ExitStack) -> tuple[socket.socket, int]:
    """Return the connection of a new stream, and the status that it began with."""
    connection = connections.enter_context(server.socket())
    connection.sendall(posted(server, msgspec.json.encode(LISTEN), "subscriptions/listen"))
    return connection, int(connection.recv(64 * 1024).split(b" ", 2)[1])


@pytest.mark.attack(50)
def test_idle_streams_of_one_key_are_capped(server: RunningServer) -> None:
    with ExitStack() as connections:
        opened = [listen(server, connections) for _ in range(MAX_STREAMS_OF_KEY)]
        assert {status for _, status in opened} == {200}

        assert listen(server, connections)[1] == 503
        assert server.call("projA", "health")["status"] in ("Healthy", "Loading")

        opened[0][0].close()
        eventually(lambda: listen(server, connections)[1] == 200)


@pytest.mark.attack(46)
@pytest.mark.parametrize(
    "body",
    [
        b"[" + b",".join([b'{"jsonrpc":"2.0","id":1,"method":"ping"}'] * 10_000) + b"]",
        b'{"jsonrpc":"2.0","id":{"a":1},"method":"tools/list","params":{}}',
        b'{"id":1,"method":"tools/list"}',
    ],
    ids=["batch", "object-id", "bare"],
)
def test_what_is_no_message_ends_with_an_error_and_the_server_goes_on(
    server: RunningServer, body: bytes
) -> None:
    with server.socket() as connection:
        connection.sendall(posted(server, body, "tools/list"))

        assert connection.recv(64 * 1024).startswith(b"HTTP/1.1 400")
    assert server.call("projA", "health")["status"] in ("Healthy", "Loading")


@pytest.mark.attack(5)
def test_a_key_in_the_address_stands_in_no_log(tmp_path: Path) -> None:
    root = configured(tmp_path)
    text = (root / "QuickMemoryServer.toml").read_text(encoding="utf-8")
    (root / "QuickMemoryServer.toml").write_text(
        f'[global]\nlogLevel = "debug"\n{text}', encoding="utf-8"
    )
    secrets = (ADMIN_KEY, "hunter2-of-no-form-at-all")
    with ServerProcess(root, key=ADMIN_KEY) as server:
        for path in ("/mcp/projA", "/api/v1/projA/listEntries", "/admin/users", "/nothing"):
            for secret in secrets:
                connection = server.connect()
                connection.request("POST", f"{path}?key={secret}&api_key={secret}", b"{}")
                assert connection.getresponse().status in (401, 404, 405, 415)
                connection.close()
        server.call("projA", "listEntries")
        assert server.stop() == 0

    log = (root / "logs" / "qms.log").read_text(encoding="utf-8")
    assert "command answered" in log
    assert "command answered" in server.errors
    assert not [secret for secret in secrets if secret in log + server.errors]
