"""What systemd is told of a server: that it is ready, alive, about to end.

The protocol is one datagram a message to the socket that systemd names in the environment;
sd_notify(3) describes it.
"""

import contextlib
import os
import socket
import time
from collections.abc import Callable, Mapping

from qms.host.process import Phase, Watcher

LOADING_EXTENDS_S = 60
"""How much longer a start may take, counted from the last time that the server said so."""

_MICROSECONDS = 1_000_000
_SAY_LOADING_EVERY_S = 5.0

_MESSAGES = {
    Phase.LOADING: "STATUS=Loading stores",
    Phase.READY: "READY=1\nSTATUS=Serving",
    Phase.STOPPING: "STOPPING=1\nSTATUS=Writing down what is still in memory",
}


class SystemdWatcher(Watcher):
    """Tells systemd; `watchdog_s` is how long it waits for a sign of life, 0 when it does not."""

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
        """Say what has begun."""
        self._due = 0.0
        if (message := _MESSAGES.get(phase)) is not None:
            self._send(message)

    def turned(self, phase: Phase) -> None:
        """Say in time that the event loop still turns: a stuck one is what the watchdog is for."""
        now = self._monotonic()
        if now < self._due:
            return
        if phase is Phase.LOADING:
            self._send(f"EXTEND_TIMEOUT_USEC={LOADING_EXTENDS_S * _MICROSECONDS}")
            self._due = now + _SAY_LOADING_EVERY_S
        elif self._watchdog_s:
            self._send("WATCHDOG=1")
            self._due = now + self._watchdog_s / 2

    def _send(self, message: str) -> None:
        # A manager that does not listen is no reason to fail: the server serves.
        with (
            contextlib.suppress(OSError),
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel,
        ):
            channel.sendto(message.encode(), self._address)


def watcher_of(environ: Mapping[str, str]) -> Watcher:
    """Return the watcher that the process's environment asks for."""
    address = environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return Watcher()
    is_meant = environ.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
    period = environ.get("WATCHDOG_USEC", "")
    watchdog_s = int(period) / _MICROSECONDS if is_meant and period.isdecimal() else 0.0
    return SystemdWatcher(address, watchdog_s)
