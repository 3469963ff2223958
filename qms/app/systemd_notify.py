"""Notifies systemd that the server is ready, alive or stopping.

Each message is one datagram to the socket named in the environment; see sd_notify(3).
"""

import contextlib
import os
import socket
import time
from collections.abc import Callable, Mapping

from qms.app.process import Phase, Watcher

LOADING_EXTENDS_S = 60
"""How much longer a start may take, counted from the last message."""

_MICROSECONDS = 1_000_000
_EXTEND_EVERY_S = 5.0

_MESSAGES = {
    Phase.LOADING: "STATUS=Loading stores",
    Phase.READY: "READY=1\nSTATUS=Serving",
    Phase.STOPPING: "STOPPING=1\nSTATUS=Writing stores to disk",
}


class SystemdNotifier(Watcher):
    """Sends phases to systemd; `watchdog_s` is its watchdog timeout, 0 for none."""

    def __init__(
        self,
        address: str,
        watchdog_s: float = 0.0,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._address = f"\0{address[1:]}" if address.startswith("@") else address
        self._watchdog_s = watchdog_s
        self._monotonic = monotonic
        self._due = 0.0

    def entered(self, phase: Phase) -> None:
        """Send the new phase."""
        self._due = 0.0
        if (message := _MESSAGES.get(phase)) is not None:
            self._send(message)

    def turned(self, phase: Phase) -> None:
        """Send a sign of life in time, so that the watchdog restarts only a stuck event loop."""
        now = self._monotonic()
        if now < self._due:
            return
        if phase is Phase.LOADING:
            self._send(f"EXTEND_TIMEOUT_USEC={LOADING_EXTENDS_S * _MICROSECONDS}")
            self._due = now + _EXTEND_EVERY_S
        elif self._watchdog_s:
            self._send("WATCHDOG=1")
            self._due = now + self._watchdog_s / 2

    def _send(self, message: str) -> None:
        # The server goes on if systemd does not listen.
        with (
            contextlib.suppress(OSError),
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel,
        ):
            channel.sendto(message.encode(), self._address)


def watcher_of(environ: Mapping[str, str]) -> Watcher:
    """Return a notifier if systemd started this process, else a watcher that does nothing."""
    address = environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return Watcher()
    is_meant = environ.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
    period = environ.get("WATCHDOG_USEC", "")
    watchdog_s = int(period) / _MICROSECONDS if is_meant and period.isdecimal() else 0.0
    return SystemdNotifier(address, watchdog_s)
