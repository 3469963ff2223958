"""Calls of one client beside many clients that send one byte a second."""

import select
import socket
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from tools.benchmarks.measure import Plan, Row, duration

SLOW_CLIENTS = 500
CALLS = 2000
"""Together they take longer than a second, so that bytes of all slow clients arrive."""

_BYTE_EVERY_S = 1.0
_HEAD = b"POST /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
_BODY = (
    b"POST /health HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    b"Content-Length: 1000\r\n\r\n"
)


def slow_row(plan: Plan, address: tuple[str, int], call: Callable[[], object]) -> Row:
    """Measure the p99 of calls with and without slow clients."""
    alone, beside = [], []
    for _ in range(plan.rounds):
        alone.append(_slowest_s(call))
        with _crowd(address):
            beside.append(_slowest_s(call))
    before, during = statistics.median(alone), statistics.median(beside)
    bound = plan.bounds["slow-ratio"]
    return Row(
        subject=f"getEntry beside {SLOW_CLIENTS} slow clients, 99 of 100",
        entries=0,
        ours=f"– / {duration(during)}",
        raw=f"– / {duration(before)} alone",
        figure=f"{during / before:.2f} × without them",
        bound=str(bound),
        verdict=bound.judge(during / before),
    )


def _slowest_s(call: Callable[[], object]) -> float:
    waits = []
    for _ in range(CALLS):
        began = time.perf_counter()
        call()
        waits.append(time.perf_counter() - began)
    return sorted(waits)[int(0.99 * CALLS)]


@contextmanager
def _crowd(address: tuple[str, int]) -> Iterator[None]:
    """Keep this many connections busy with heads and bodies of one byte a second."""
    done = threading.Event()
    with ExitStack() as clients:
        connections = []
        for number in range(SLOW_CLIENTS):
            connection = clients.enter_context(socket.create_connection(address, timeout=30))
            connection.sendall(_HEAD if number % 2 else _BODY)
            connections.append(connection)
        sender = threading.Thread(target=_send_slowly, args=(connections, done))
        sender.start()
        try:
            time.sleep(_BYTE_EVERY_S)  # Until the server has accepted all of them.
            yield
        finally:
            done.set()
            sender.join()


def _send_slowly(connections: list[socket.socket], done: threading.Event) -> None:
    while not done.wait(_BYTE_EVERY_S):
        closed, _, _ = select.select(connections, [], [], 0)
        connections = [one for one in connections if one not in closed]
        for connection in connections:
            connection.send(b"x")
