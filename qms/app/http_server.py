"""The HTTP server of an open root: addresses, sockets and the uvicorn configuration."""

import asyncio
import os
import socket
from collections.abc import Callable
from pathlib import Path

import msgspec
import uvicorn
from starlette.types import ASGIApp

from qms.app.allocator import keep_small
from qms.app.build import OpenRoot
from qms.app.routes import app
from qms.app.table import COMMANDS
from qms.commands.command import Command
from qms.commands.gate import Gate
from qms.config.addresses import ListenAddress, is_loopback
from qms.config.exposure import check_exposure
from qms.config.settings import GlobalSettings
from qms.http.protocol import KEEP_ALIVE_S, MAX_HEAD_BYTES, TimeoutProtocol, check_connections
from qms.http.setup_link import SetupLink
from qms.mcp.pages import STANDARD, Offers
from qms.memory.errors import InvalidInputError, UnavailableError
from qms.telemetry import metrics

PERIOD_S = 0.5


async def watch_lag() -> None:
    """Measure every `PERIOD_S` how late a timer fires, until cancelled."""
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + PERIOD_S
        await asyncio.sleep(PERIOD_S)
        metrics.LOOP_LAG_SECONDS.observe(max(0.0, loop.time() - due))


GRACE_S = 10
"""How long requests in flight may take to end after a signal."""

LOAD_AFTER_S = 0.3
"""Delay between opening the port and loading stores, so that the first request is fast."""

BACKLOG = 2048
"""How many connections may wait to be accepted."""

_LOOPBACK = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - compared with, not listened on
_TICKS_A_SECOND = 10
"""How often uvicorn calls `on_tick`."""

Echo = Callable[[str], None]


class Served(msgspec.Struct, frozen=True):
    """What a server offers, from when on: commands, MCP pages and prompts, and its stores."""

    commands: tuple[Command, ...] = COMMANDS
    offers: Offers = STANDARD
    load_after_s: float = LOAD_AFTER_S


class Hooks(msgspec.Struct, frozen=True, kw_only=True):
    """Callbacks in the server's thread."""

    listening: Callable[[], None]
    turned: Callable[[], None]
    """Called ten times a second while the server runs."""
    stopping: Callable[[], None]


class HttpServer(uvicorn.Server):
    """A uvicorn server that reports when it listens and stops without ending the process."""

    def __init__(self, config: uvicorn.Config, sockets: list[socket.socket], hooks: Hooks) -> None:
        super().__init__(config)
        self._sockets = sockets
        self._hooks = hooks
        self._tasks: list[asyncio.Task[None]] = []

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to answer requests and call `listening`."""
        await super().startup(sockets=sockets)
        self._tasks = [asyncio.create_task(watch_lag()), asyncio.create_task(keep_small())]
        self._hooks.listening()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Wait for requests in flight."""
        for task in self._tasks:
            task.cancel()
        self._hooks.stopping()
        await super().shutdown(sockets=sockets)

    async def on_tick(self, counter: int) -> bool:
        """Call `turned`, and check the timeouts of connections once a second."""
        self._hooks.turned()
        if counter % _TICKS_A_SECOND == 0:
            check_connections(self.server_state.connections, asyncio.get_running_loop().time())
        return await super().on_tick(counter)

    def serve_until_stopped(self) -> None:
        """Serve in this thread until `stop`."""
        self.run(sockets=self._sockets)

    def stop(self) -> None:
        """Ask the server to stop; return at once."""
        self.should_exit = True


def http_server(
    opened: OpenRoot,
    addresses: list[ListenAddress],
    echo: Echo,
    served: Served,
    hooks: Hooks,
) -> HttpServer:
    """Return the server of a root, bound to these addresses and not answering yet.

    Raises:
        InvalidInputError: an address would expose an unprotected server.
        UnavailableError: the server cannot listen on an address.
    """
    settings = opened.runtime.configuration.settings.global_
    check_exposure(settings, addresses)
    sockets = [bind(address) for address in addresses]
    bound_to = [
        ListenAddress(address.scheme, address.host, bound.getsockname()[1])
        for address, bound in zip(addresses, sockets, strict=True)
    ]
    gate = opened.runtime.gate(served.commands)
    setup = _setup_link(opened, gate)

    def announce() -> None:
        opened.announce(bound_to[0].url)
        if setup is not None and (url := _own_url(bound_to, settings)) is not None:
            echo(f"setup link: {url}#setup={setup.token}")
        for address in bound_to:
            echo(f"listening: {address.url}")
        asyncio.get_running_loop().call_later(served.load_after_s, opened.runtime.load)
        hooks.listening()

    def end_streams() -> None:
        hooks.stopping()
        # Streams of MCP clients never end by themselves: the shutdown would wait for them.
        application.endpoints.close()

    application = app(gate, served.offers, setup=setup)
    config = _uvicorn_config(application, opened.runtime.root, settings, addresses)
    own = Hooks(listening=announce, turned=hooks.turned, stopping=end_streams)
    return HttpServer(config, sockets, own)


def _setup_link(opened: OpenRoot, gate: Gate) -> SetupLink | None:
    """Return the link that signs the new admin in on a first run, else None."""
    if opened.first_key is None:
        return None
    return SetupLink(gate.authenticate(opened.first_key), gate.now)


def _own_url(addresses: list[ListenAddress], settings: GlobalSettings) -> str | None:
    """Return a loopback URL of this server, or None if there is none or a proxy is in front."""
    for address in [] if settings.behind_proxy else addresses:
        host = _LOOPBACK.get(address.host, address.host)
        if is_loopback(host):
            return ListenAddress(address.scheme, host, address.port).url + "/"
    return None


def _uvicorn_config(
    application: ASGIApp, root: Path, settings: GlobalSettings, addresses: list[ListenAddress]
) -> uvicorn.Config:
    is_tls = addresses[0].is_tls
    return uvicorn.Config(
        application,
        loop="asyncio",
        http=TimeoutProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=GRACE_S,
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        ssl_certfile=root / settings.tls_certificate if is_tls else None,
        ssl_keyfile=root / settings.tls_key if is_tls and settings.tls_key else None,
    )


def wanted_addresses(
    settings: GlobalSettings, host: str | None, port: int | None
) -> list[ListenAddress]:
    """Return the configured addresses, or one with the host and port of the command line."""
    configured = list(settings.addresses())
    if not configured:
        raise InvalidInputError("global.listen names no address", field="global.listen")
    if host is not None or port is not None:
        first = configured[0]
        return [
            ListenAddress(
                first.scheme,
                first.host if host is None else host,
                first.port if port is None else port,
            )
        ]
    if len({address.scheme for address in configured}) > 1:
        raise InvalidInputError(
            "global.listen mixes http:// and https://: choose one of them", field="global.listen"
        )
    return configured


def bind(address: ListenAddress) -> socket.socket:
    """Return a socket that listens on an address.

    Raises:
        UnavailableError: the address is in use or does not belong to this machine.
    """
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    # The protocol is named so that asyncio recognizes TCP and disables Nagle's algorithm:
    # otherwise every answer waits 40 ms for the client's acknowledgement of its head.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind((address.host, address.port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise UnavailableError(
            f"cannot listen on {address.url}: {error.strerror or error}; choose another address"
            " with --host and --port, or in the configuration"
        ) from error
    return listener
