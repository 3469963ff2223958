"""Clients that are slow, too many, or do not speak HTTP: over real sockets."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import msgspec
import pytest

from qms.http.protocol import Patience, TimeoutProtocol
from tests.support.asgi import Answer
from tests.support.house import failure
from tests.support.running import RunningServer
from tests.support.server import ADMIN_KEY, configured
from tests.support.waiting import eventually

LIST = "/api/v1/projA/listEntries"


class HurriedProtocol(TimeoutProtocol):
    """Has no patience, and room for few."""

    patience = Patience(head_s=0.3, body_s=0.3, reading_s=0.3, leaving_s=0.3)
    max_connections = 20


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    running = RunningServer(configured(tmp_path), ADMIN_KEY)
    yield running
    running.stop()


@pytest.fixture
def hurried(tmp_path: Path) -> Iterator[RunningServer]:
    running = RunningServer(configured(tmp_path), ADMIN_KEY, HurriedProtocol)
    yield running
    running.stop()


def head(server: RunningServer, *lines: str, method: str = "POST", path: str = LIST) -> bytes:
    first = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{server.port}"]
    return "\r\n".join([*first, *lines, "", ""]).encode("latin-1")


def sent_json(server: RunningServer, *lines: str) -> bytes:
    return head(server, "Content-Type: application/json", f"X-Api-Key: {ADMIN_KEY}", *lines)


def rest_of(connection: socket.socket) -> bytes:
    """Return what comes until the server closes; a reset counts as that."""
    parts = []
    try:
        while data := connection.recv(65536):
            parts.append(data)
    except ConnectionError:
        parts.append(b"")
    return b"".join(parts)


def read_answer(connection: socket.socket) -> Answer:
    """Return one answer that says how long it is."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = connection.recv(65536)
        assert part, f"the connection ended: {data!r}"
        data += part
    top, _, body = data.partition(b"\r\n\r\n")
    lines = top.decode("latin-1").split("\r\n")
    headers = {
        name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])
    }
    while len(body) < int(headers["content-length"]):
        body += connection.recv(65536)
    return Answer(int(lines[0].split()[1]), headers, body)


def answer_to(server: RunningServer, *parts: bytes) -> Answer:
    with server.socket() as connection:
        for part in parts:
            connection.sendall(part)
        return read_answer(connection)


def test_a_request_is_answered_and_the_connection_is_kept(server: RunningServer) -> None:
    request = sent_json(server, "Content-Length: 2") + b"{}"
    with server.socket() as connection:
        for _ in range(3):
            connection.sendall(request)
            assert read_answer(connection).status == 200


def test_requests_sent_in_one_go_are_all_answered(server: RunningServer) -> None:
    request = sent_json(server, "Content-Length: 2") + b"{}"
    with server.socket() as connection:
        connection.sendall(request * 3 + head(server, "Connection: close", method="GET"))

        assert rest_of(connection).count(b"HTTP/1.1 200") == 3


@pytest.mark.attack(20)
@pytest.mark.parametrize(
    "text",
    [
        "GET /health HTTP/1.1\r\n\r\n",
        "GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET /health HTTP/1.1\r\nHost: x/public?\r\n\r\n",
        "GET /health HTTP/1.0\r\n\r\n",
        "GARBAGE\r\n\r\n",
        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    ],
)
def test_a_head_without_exactly_one_host_is_invalid(server: RunningServer, text: str) -> None:
    answer = answer_to(server, text.encode("latin-1"))

    assert (answer.status, failure(answer).code) == (400, "invalidInput")
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.attack(52)
@pytest.mark.parametrize(
    ("lines", "path", "status"),
    [
        (["Content-Length: 2", "Transfer-Encoding: chunked"], LIST, 400),
        (["Content-Length: 2", "Content-Length: 3"], LIST, 400),
        (["Transfer-Encoding: gzip, chunked"], LIST, 400),
        ([f"X-Long: {'a' * 100_000}"], LIST, 431),
        ([f"X-Long: {'a' * 1_000_000}"], LIST, 431),
        ([f"X-{number}: " for number in range(10_000)], LIST, 431),
        ([], "/" + "a" * 100_000, 414),
        ([], "/" + "a" * 1_000_000, 414),
        (["X-Bad: a\x00b"], LIST, 400),
        (["X Bad: a"], LIST, 400),
    ],
)
def test_heads_that_are_ambiguous_or_too_large_are_refused_in_json(
    server: RunningServer, lines: list[str], path: str, status: int
) -> None:
    answer = answer_to(server, head(server, *lines, path=path))

    assert (answer.status, failure(answer).status) == (status, status)


@pytest.mark.attack(3)
@pytest.mark.parametrize("key", ["schl\xfcssel", "a\x00b", "k" * 40_000, "k" * 1_000_000])
@pytest.mark.parametrize("name", ["Authorization: Bearer", "X-Api-Key:"])
def test_a_key_that_http_can_hardly_carry_is_nobodys(
    server: RunningServer, name: str, key: str
) -> None:
    answer = answer_to(server, head(server, f"{name} {key}", "Content-Length: 0"))

    assert (answer.status, failure(answer).code) == (401, "notAuthenticated")


@pytest.mark.attack(44)
def test_a_gigabyte_is_refused_before_a_byte_of_it_is_sent(server: RunningServer) -> None:
    answer = answer_to(server, sent_json(server, "Content-Length: 1000000000"))

    assert (answer.status, failure(answer).code) == (413, "tooLarge")


@pytest.mark.attack(44)
def test_a_client_that_sends_too_much_gets_to_read_why(server: RunningServer) -> None:
    body = b" " * (3 * 1024 * 1024)

    answer = answer_to(server, sent_json(server, f"Content-Length: {len(body)}"), body)

    assert (answer.status, failure(answer).code) == (413, "tooLarge")


def send_again_and_again(connection: socket.socket, data: bytes) -> None:
    """Send far more than anybody should take."""
    for _ in range(1_000_000):
        connection.sendall(data)


@pytest.mark.attack(44)
def test_endless_chunks_come_to_an_end(hurried: RunningServer) -> None:
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    with hurried.socket() as connection:
        connection.sendall(sent_json(hurried, "Transfer-Encoding: chunked"))
        with pytest.raises(ConnectionError):
            send_again_and_again(connection, chunk)

    eventually(lambda: hurried.connections == 0)


def test_a_body_that_nobody_wanted_does_not_spoil_the_next_request(server: RunningServer) -> None:
    with server.socket() as connection:
        connection.sendall(head(server, "Content-Type: application/json", "Content-Length: 2"))
        assert read_answer(connection).status == 401
        connection.sendall(b"{}" + sent_json(server, "Content-Length: 2") + b"{}")

        assert read_answer(connection).status == 200


@pytest.mark.attack(51)
@pytest.mark.parametrize(
    "begin", [b"", b"P", b"POST /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "]
)
def test_a_head_that_does_not_come_to_its_end_is_not_waited_for(
    hurried: RunningServer, begin: bytes
) -> None:
    with hurried.socket() as connection:
        connection.sendall(begin)

        assert rest_of(connection) == b""


@pytest.mark.attack(51)
def test_a_second_head_on_a_kept_connection_is_not_waited_for_either(
    hurried: RunningServer,
) -> None:
    with hurried.socket() as connection:
        connection.sendall(sent_json(hurried, "Content-Length: 2") + b"{}")
        assert read_answer(connection).status == 200
        connection.sendall(b"POST /")

        assert rest_of(connection) == b""


@pytest.mark.attack(51)
@pytest.mark.parametrize("framing", ["Content-Length: 1000", "Transfer-Encoding: chunked"])
def test_a_body_that_does_not_move_on_is_not_waited_for(
    hurried: RunningServer, framing: str
) -> None:
    with hurried.socket() as connection:
        connection.sendall(sent_json(hurried, framing) + b"1\r\n{")

        assert rest_of(connection) == b""


def test_a_connection_without_a_deadline_would_wait_for_ever(server: RunningServer) -> None:
    with server.socket() as connection:
        connection.sendall(b"POST / HTTP/1.1\r\n")
        connection.settimeout(1.0)
        with pytest.raises(TimeoutError):
            connection.recv(1)


@pytest.mark.attack(51)
def test_slow_heads_give_way_to_those_who_have_something_to_ask(tmp_path: Path) -> None:
    class CrowdedProtocol(TimeoutProtocol):
        max_connections = 20

    server = RunningServer(configured(tmp_path), ADMIN_KEY, CrowdedProtocol)
    try:
        with ExitStack() as clients:
            for _ in range(100):
                slow = clients.enter_context(server.socket())
                slow.sendall(b"POST /health HTTP/1.1\r\nX-Slow: ")
            for _ in range(20):
                assert (
                    answer_to(server, sent_json(server, "Content-Length: 2"), b"{}").status == 200
                )
            assert server.connections <= 21
    finally:
        server.stop()


@pytest.mark.attack(50)
def test_connections_that_are_all_at_work_leave_no_room_and_a_new_one_is_told_so(
    tmp_path: Path,
) -> None:
    class CrowdedProtocol(TimeoutProtocol):
        max_connections = 5

    server = RunningServer(configured(tmp_path), ADMIN_KEY, CrowdedProtocol)
    try:
        with ExitStack() as clients:
            for _ in range(5):
                busy = clients.enter_context(server.socket())
                busy.sendall(sent_json(server, "Content-Length: 1000") + b"{")
            eventually(lambda: server.connections == 5)
            answer = answer_to(server)
            assert (answer.status, failure(answer).code) == (503, "unavailable")
            assert answer.headers["retry-after"] == "1"
    finally:
        server.stop()


@pytest.mark.attack(47)
def test_clients_that_leave_in_the_middle_leave_nothing_behind(server: RunningServer) -> None:
    server.call("projA", "health")
    beginnings = [
        b"POST /api",
        sent_json(server, "Content-Length: 1000") + b'{"filter"',
        sent_json(server, "Transfer-Encoding: chunked") + b"5\r\n{",
        sent_json(server, "Content-Length: 2") + b"{}",
    ]
    for number in range(1000):
        with server.socket() as connection:
            connection.sendall(beginnings[number % len(beginnings)])

    eventually(lambda: server.connections == 0)
    assert server.call("projA", "health")["status"] == "Healthy"


@pytest.mark.attack(5)
def test_an_answer_never_repeats_the_address_that_was_asked_for(server: RunningServer) -> None:
    path = f"/nothing?key={ADMIN_KEY}"

    answer = answer_to(server, head(server, "Content-Length: 0", path=path))

    assert (answer.status, ADMIN_KEY.encode() in answer.body) == (404, False)
    assert msgspec.json.decode(answer.body)["error"]["code"] == "notFound"
