"""One server of one root from its start to its exit code, whoever runs it.

A console, a service manager and a program that needs a server of its own all use this one host:
they differ in who calls `stop`, and in whom a `Watcher` tells how far the server is.
"""

import enum
import logging
import threading
from pathlib import Path

import msgspec

from qms.config.addresses import ListenAddress
from qms.domain.errors import QmsError, UnavailableError
from qms.host.allocator import spare_memory
from qms.host.exit_codes import UNEXPECTED
from qms.host.listening import Echo, Hooks, HttpServer, Served, http_server, wanted_addresses
from qms.host.opening import opened_root
from qms.runtime.build import OpenRoot

log = logging.getLogger(__name__)


class Phase(enum.IntEnum):
    """How far a server is; it never goes back."""

    NEW = 0
    STARTING = 1
    """It takes the root, reads the settings and opens its port."""
    LOADING = 2
    """It answers, and loads stores."""
    READY = 3
    """Every store is open, or known to be broken."""
    STOPPING = 4
    """It ends requests under way, folds and closes."""
    STOPPED = 5


def _say_nothing(_line: str) -> None:
    """Take a line that nobody wants to read."""


class Watcher:
    """Is told how far a server is, in the server's own thread; this one does not care."""

    def entered(self, phase: Phase) -> None:
        """Hear that a phase has begun."""

    def turned(self, phase: Phase) -> None:
        """Hear, about ten times a second, that the event loop still turns."""


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What to serve and how."""

    root: Path
    host: str | None = None
    port: int | None = None
    served: Served = Served()
    makes_admin: bool = True
    address: ListenAddress | None = None
    """Listen here, whatever is configured."""
    logs_at_once: bool = False
    """Log to the root's file from the first moment, for a process that nobody reads from."""


class Outcome(msgspec.Struct, frozen=True):
    """How a server ended."""

    exit_code: int = 0
    reason: str = ""
    error: Exception | None = None


class ServerHost:
    """Serves once: either `run` here, or `start` and `wait`; any thread may call `stop`."""

    def __init__(
        self, order: Order, *, echo: Echo = _say_nothing, watcher: Watcher | None = None
    ) -> None:
        """Prepare a server; `echo` gets the lines for standard output."""
        self._order = order
        self._echo = echo
        self._watcher = watcher or Watcher()
        self._changed = threading.Condition()
        self._phase = Phase.NEW
        self._outcome: Outcome | None = None
        self._server: HttpServer | None = None
        self._is_stop_asked = False

    @property
    def phase(self) -> Phase:
        """Return how far the server is."""
        return self._phase

    def run(self) -> None:
        """Serve in this thread until `stop`.

        Raises:
            ConflictError: another process owns the root.
            InvalidInputError: the configuration is not valid, or would expose a bare server.
            UnavailableError: the root cannot be used, or an address not be listened on.
        """
        order = self._order
        spare_memory()
        self._enter(Phase.STARTING)
        try:
            with opened_root(
                order.root, makes_admin=order.makes_admin, logs_at_once=order.logs_at_once
            ) as opened:
                self._serve(opened)
        finally:
            self._enter(Phase.STOPPED)

    def start(self) -> None:
        """Serve in a thread of its own until `stop`."""
        threading.Thread(target=self._run_to_outcome, name="server").start()

    def stop(self) -> None:
        """End at the next opportunity; returns at once, and may come at any time."""
        self._is_stop_asked = True
        if self._server is not None:
            self._server.stop()

    def wait_until(self, phase: Phase, timeout_s: float | None = None) -> bool:
        """Wait until the server is so far, or has ended; False when the time was too short."""
        with self._changed:
            return self._changed.wait_for(lambda: self._phase >= phase, timeout_s)

    def wait(self, timeout_s: float | None = None) -> Outcome | None:
        """Return how the server of `start` ended, or None when the time was too short."""
        with self._changed:
            self._changed.wait_for(lambda: self._outcome is not None, timeout_s)
            return self._outcome

    def _serve(self, opened: OpenRoot) -> None:
        if opened.first_key is not None:
            self._echo(f"admin key: {opened.first_key}")
        hooks = Hooks(
            listening=lambda: self._enter(Phase.LOADING),
            turned=lambda: self._turned(opened),
            stopping=lambda: self._enter(Phase.STOPPING),
        )
        addresses = self._addresses(opened)
        self._server = http_server(opened, addresses, self._echo, self._order.served, hooks)
        if self._is_stop_asked:
            self._server.stop()
        self._server.serve_until_stopped()
        if not self._server.started:
            raise UnavailableError("the server ended before it answered: see the log")

    def _addresses(self, opened: OpenRoot) -> list[ListenAddress]:
        if self._order.address is not None:
            return [self._order.address]
        settings = opened.runtime.configuration.settings.global_
        return wanted_addresses(settings, self._order.host, self._order.port)

    def _turned(self, opened: OpenRoot) -> None:
        if self._phase is Phase.LOADING and not opened.runtime.catalog.is_loading:
            self._enter(Phase.READY)
        self._watcher.turned(self._phase)

    def _enter(self, phase: Phase) -> None:
        with self._changed:
            self._phase = phase
            self._changed.notify_all()
        self._watcher.entered(phase)

    def _run_to_outcome(self) -> None:
        outcome = Outcome()
        try:
            self.run()
        except QmsError as error:
            outcome = Outcome(error.exit_code, error.message, error)
        except Exception as error:
            log.exception("server ended by an error")
            outcome = Outcome(UNEXPECTED, f"unexpected {type(error).__name__}, see the log", error)
        with self._changed:
            self._outcome = outcome
            self._changed.notify_all()
