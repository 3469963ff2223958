"""The console process: serve a root until a signal comes. systemd and launchd start it, too."""

import os
import signal
from collections.abc import Mapping
from pathlib import Path
from types import FrameType

from qms.host.listening import Echo, Served
from qms.host.process import Order, ServerHost
from qms.host.service_control import LABEL
from qms.host.systemd_notify import watcher_of


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
        UnavailableError: the root cannot be used, or an address not be listened on.
    """
    order = Order(
        root=root, host=host, port=port, served=served, logs_at_once=_is_service(os.environ)
    )
    server = ServerHost(order, echo=echo, watcher=watcher_of(os.environ))

    def stop(_signal: int, _frame: FrameType | None) -> None:
        server.stop()

    # uvicorn raises a signal again once it has stopped, so that whoever was there before it may
    # act: these handlers, and not the default ones that would kill the process before it closes.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    server.run()


def _is_service(environ: Mapping[str, str]) -> bool:
    """Say whether systemd or launchd has started this process: then nobody sees its terminal."""
    return bool(environ.get("NOTIFY_SOCKET")) or environ.get("XPC_SERVICE_NAME") == LABEL
