import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from qms.app.process import Phase, Watcher
from qms.app.systemd_notify import LOADING_EXTENDS_S, SystemdNotifier, watcher_of
from tests.support.environment import Environment
from tests.support.server import ServerProcess, configured

BOUND_S = 30.0


class Listener:
    """The end of the socket that systemd has."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.settimeout(BOUND_S)
        self.socket.bind(f"\0{address[1:]}" if address.startswith("@") else address)

    def next(self) -> str:
        return self.socket.recv(4096).decode()

    def until(self, wanted: str) -> list[str]:
        messages = [self.next()]
        while wanted not in messages[-1].split("\n"):
            messages.append(self.next())
        return messages

    def is_empty(self) -> bool:
        self.socket.setblocking(False)
        try:
            self.socket.recv(4096)
        except BlockingIOError:
            return True
        finally:
            self.socket.settimeout(BOUND_S)
        return False


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[Listener]:
    made = Listener(str(tmp_path / "notify"))
    yield made
    made.socket.close()


def test_a_real_server_says_ready_alive_and_stopping(
    tmp_path: Path, listener: Listener, environment: Environment
) -> None:
    environment["NOTIFY_SOCKET"] = listener.address
    environment["WATCHDOG_USEC"] = "200000"
    with ServerProcess(configured(tmp_path / "root")) as server:
        before = listener.until("READY=1")
        listener.until("WATCHDOG=1")
        listener.until("WATCHDOG=1")
        assert server.stop() == 0

    assert before[0] == "STATUS=Loading stores"
    assert f"EXTEND_TIMEOUT_USEC={LOADING_EXTENDS_S}000000" in before
    assert "WATCHDOG=1" not in before
    listener.until("STOPPING=1")
    assert listener.is_empty(), "a server that ends is not alive"


def test_an_abstract_address_begins_with_an_at_sign() -> None:
    listener = Listener(f"@qms-test-{os.getpid()}")
    SystemdNotifier(listener.address).entered(Phase.READY)

    assert listener.next() == "READY=1\nSTATUS=Serving"
    listener.socket.close()


def test_signs_of_life_come_twice_in_the_time_that_systemd_waits(listener: Listener) -> None:
    now = 100.0
    watcher = SystemdNotifier(listener.address, 10.0, lambda: now)
    watcher.entered(Phase.READY)
    listener.next()
    for now in (100.0, 104.9, 105.0, 109.9):  # noqa: B007 - read by the watcher
        watcher.turned(Phase.READY)

    assert [listener.next(), listener.next()] == ["WATCHDOG=1", "WATCHDOG=1"]
    assert listener.is_empty()


def test_without_a_watchdog_nothing_is_said_while_serving(listener: Listener) -> None:
    watcher = watcher_of({"NOTIFY_SOCKET": listener.address})
    watcher.turned(Phase.READY)

    assert listener.is_empty()


def test_a_watchdog_meant_for_another_process_is_not_served(listener: Listener) -> None:
    environ = {"NOTIFY_SOCKET": listener.address, "WATCHDOG_USEC": "1", "WATCHDOG_PID": "1"}
    watcher_of(environ).turned(Phase.READY)

    assert listener.is_empty()


@pytest.mark.parametrize("environ", [{}, {"NOTIFY_SOCKET": ""}, {"NOTIFY_SOCKET": "vsock:2:1"}])
def test_without_a_socket_nobody_is_told(environ: dict[str, str]) -> None:
    assert type(watcher_of(environ)) is Watcher


def test_a_manager_that_does_not_listen_is_no_reason_to_fail(tmp_path: Path) -> None:
    SystemdNotifier(str(tmp_path / "nobody")).entered(Phase.READY)
