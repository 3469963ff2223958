"""The console process: own a root, listen, serve until a signal comes, close in order."""

import signal
from pathlib import Path

from qms.host.listening import Echo, Served, http_server, wanted_addresses
from qms.host.opening import opened_root


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
    with opened_root(root) as opened:
        if opened.first_key is not None:
            echo(f"admin key: {opened.first_key}")
        settings = opened.runtime.configuration.settings.global_
        server = http_server(opened, wanted_addresses(settings, host, port), echo, served)
        # uvicorn raises a signal again once it has stopped, so that whoever was there before it
        # may act: these handlers, and not the default ones that would kill the process before it
        # closes.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, server.stop)
        server.serve_until_stopped()
