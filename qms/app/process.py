"""Runs one server of one root from its start to its exit code.

Console, service managers and `qms mcp` all use this host. They differ in who calls `stop` and in
the `Watcher` that is told the phase.
"""

import enum
import logging
import threading
from pathlib import Path

import msgspec

from qms.app.allocator import spare_memory
from qms.app.build import OpenRoot
from qms.app.http_server import Echo, Hooks, HttpServer, Served, http_server, wanted_addresses
from qms.app.opened_root import opened_root
from qms.app.service_facts import UNEXPECTED
from qms.config.addresses import ListenAddress
from qms.memory.errors import QmsError, UnavailableError

log = logging.getLogger(__name__)


class Phase(enum.IntEnum):
    """The phase of a server; it only increases."""

    NEW = 0
    STARTING = 1
    """It locks the root, reads the settings and opens its port."""
    LOADING = 2
    """It answers, and loads stores."""
    READY = 3
    """Every store is open, or known to be broken."""
    STOPPING = 4
    """It ends requests in flight, folds and closes."""
    STOPPED = 5


def _discard(_line: str) -> None:
    """Ignore a line of output."""


class Watcher:
    """Receives the phases of a server in the server's own thread; this base class ignores them."""

    def entered(self, phase: Phase) -> None:
        """Handle the start of a phase."""

    def turned(self, phase: Phase) -> None:
        """Handle a sign of life of the event loop, about ten times a second."""


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What to serve and how."""

    root: Path
    host: str | None = None
    port: int | None = None
    served: Served = Served()
    makes_admin: bool = True
    address: ListenAddress | None = None
    """Listen here instead of the configured addresses."""
    logs_at_once: bool = False
    """Log to the root's file from the start, for a process without a terminal."""


class Outcome(msgspec.Struct, frozen=True):
    """How a server ended."""

    exit_code: int = 0
    reason: str = ""
    error: Exception | None = None


class ServerHost:
    """Serves once: either `run` here, or `start` and `wait`; any thread may call `stop`."""

    def __init__(
        self, order: Order, *, echo: Echo = _discard, watcher: Watcher | None = None
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
        """Return the server's phase."""
        return self._phase

    def run(self) -> None:
        """Serve in this thread until `stop`.

        Raises:
            ConflictError: another process owns the root.
            InvalidInputError: the configuration is invalid, or would expose an unprotected server.
            UnavailableError: the root cannot be used, or the server cannot listen on an address.
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
        """Ask the server to stop, at any time; return at once."""
        self._is_stop_asked = True
        if self._server is not None:
            self._server.stop()

    def wait_until(self, phase: Phase, timeout_s: float | None = None) -> bool:
        """Wait until the server has reached a phase or has ended; return False on timeout."""
        with self._changed:
            return self._changed.wait_for(lambda: self._phase >= phase, timeout_s)

    def wait(self, timeout_s: float | None = None) -> Outcome | None:
        """Wait until the server of `start` has ended; return None on timeout."""
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
            raise UnavailableError("the server stopped before it could answer: see the log")

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
        except Exception as error:  # the outcome goes to the thread that waits for the server
            log.exception("server failed")
            outcome = Outcome(UNEXPECTED, f"unexpected {type(error).__name__}, see the log", error)
        with self._changed:
            self._outcome = outcome
            self._changed.notify_all()
