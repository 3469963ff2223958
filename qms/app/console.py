"""Serves a root from a console, systemd or launchd until a signal arrives."""

import os
import signal
from collections.abc import Mapping
from pathlib import Path
from types import FrameType

from qms.app.http_server import Echo, Served
from qms.app.process import Order, ServerHost
from qms.app.service_facts import LABEL
from qms.app.systemd_notify import watcher_of


def serve(
    root: Path,
    *,
    host: str | None,
    port: int | None,
    echo: Echo,
    served: Served = Served(),  # noqa: B008 - a frozen value
) -> None:
    """Serve a root until SIGTERM or SIGINT; `echo` gets the lines for standard output.

    Raises:
        ConflictError: another process owns the root.
        InvalidInputError: the configuration is not valid, or would expose an unprotected server.
        UnavailableError: the root cannot be used, or the server cannot listen on an address.
    """
    order = Order(
        root=root, host=host, port=port, served=served, logs_at_once=_is_service(os.environ)
    )
    server = ServerHost(order, echo=echo, watcher=watcher_of(os.environ))

    def stop(_signal: int, _frame: FrameType | None) -> None:
        server.stop()

    # uvicorn raises the signal again after it has stopped, for the handlers installed before it.
    # The default handlers would kill the process before the root is closed.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    server.run()


def _is_service(environ: Mapping[str, str]) -> bool:
    """Say whether systemd or launchd started this process, which then has no terminal."""
    return bool(environ.get("NOTIFY_SOCKET")) or environ.get("XPC_SERVICE_NAME") == LABEL
