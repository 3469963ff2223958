import json
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from qms.app.http_server import bind
from qms.config.addresses import ListenAddress
from tests.support.server import ServerProcess
from tests.support.waiting import eventually


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_folds_the_stores_and_exits_with_0(tmp_path: Path, number: int) -> None:
    with ServerProcess(tmp_path) as server:
        answer = server.call("default", "upsertEntry", entry={"kind": "note", "body": "Kept"})

        assert server.stop(number) == 0

    folder = tmp_path / "MemoryStores" / "default"
    lines = (folder / "entries.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["id"] for line in lines] == [answer["id"]]
    assert (folder / ".qms" / "journal.wal").stat().st_size <= 8


def is_refused(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except ConnectionError:
        return True
    return False


@pytest.mark.fault("F27")
def test_a_request_under_way_ends_before_the_server_does(tmp_path: Path) -> None:
    with ServerProcess(tmp_path) as server:
        body = b'{"entry":{"kind":"note","body":"Late"}}'
        connection = server.connect()
        connection.putrequest("POST", "/api/v1/default/upsertEntry")
        connection.putheader("Content-Type", "application/json")
        connection.putheader("Content-Length", str(len(body)))
        connection.putheader("X-Api-Key", server.key)
        connection.endheaders(body[:10])
        server.call("default", "health")  # by now the head was read, too
        server.process.send_signal(signal.SIGTERM)
        port = connection.port
        eventually(lambda: is_refused(port))

        connection.send(body[10:])
        answer = connection.getresponse()

        assert (answer.status, json.loads(answer.read())["created"]) == (200, True)
        connection.close()
        assert server.wait() == 0
    entries = tmp_path / "MemoryStores" / "default" / "entries.jsonl"
    assert len(entries.read_bytes().splitlines()) == 1


@pytest.mark.fault("F15")
def test_a_second_process_names_the_owner_of_the_root_and_exits_with_5(tmp_path: Path) -> None:
    with ServerProcess(tmp_path) as owner:
        second = ServerProcess(tmp_path)
        try:
            assert second.wait() == 5
            assert f"process {owner.process.pid}" in second.errors
            assert owner.url in second.errors
            assert second.process.stdout is not None
            assert second.process.stdout.read() == ""
        finally:
            second.kill()
        eventually(lambda: owner.call("default", "health")["status"] == "Healthy")
        assert owner.stop() == 0


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_listening_socket_is_known_to_be_tcp_so_that_answers_are_not_delayed(host: str) -> None:
    with bind(ListenAddress("http", host, 0)) as listener:
        assert listener.proto == socket.IPPROTO_TCP
        assert listener.getsockname()[1] > 0


def test_an_address_in_use_is_said_and_exits_with_6(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        server = ServerProcess(tmp_path, "--port", str(port))
        try:
            assert server.wait() == 6
            assert f"cannot listen on http://127.0.0.1:{port}" in server.errors
        finally:
            server.kill()


def test_an_address_open_to_others_is_refused_without_protection(tmp_path: Path) -> None:
    server = ServerProcess(tmp_path, "--host", "0.0.0.0", "--port", "0")
    try:
        assert server.wait() == 2
        assert "can be reached from other machines" in server.errors
    finally:
        server.kill()


def test_an_invalid_configuration_is_said_with_its_line_and_exits_with_2(tmp_path: Path) -> None:
    (tmp_path / "QuickMemoryServer.toml").write_text("[global]\nlisten = 5\n", encoding="utf-8")
    server = ServerProcess(tmp_path)
    try:
        assert server.wait() == 2
        assert "line 2" in server.errors
    finally:
        server.kill()


def test_nothing_heavy_is_imported_before_the_port_answers() -> None:
    heavy = ("numpy", "faiss", "tantivy", "onnxruntime", "tokenizers")
    code = f"import sys, qms.cli.server; print([n for n in {heavy!r} if n in sys.modules])"

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True
    )

    assert done.stdout == "[]\n"
