"""The HTTP server of an open root: its addresses, its application, its sockets."""

import asyncio
import os
import socket
from collections.abc import Callable
from pathlib import Path

import msgspec
import uvicorn
from starlette.types import ASGIApp

from qms.api.app import app
from qms.api.mcp.offers import STANDARD, Offers
from qms.api.setup import SetupLink
from qms.config.addresses import ListenAddress, is_loopback
from qms.config.guards import check_exposure
from qms.config.settings import GlobalSettings
from qms.domain.errors import InvalidInputError, UnavailableError
from qms.host.allocator import keep_small
from qms.host.lag import watch_lag
from qms.host.protocol import KEEP_ALIVE_S, MAX_HEAD_BYTES, PatientProtocol, check_connections
from qms.runtime.build import OpenRoot
from qms.service.calls import Command
from qms.service.commands import Services
from qms.service.table import TABLE

GRACE_S = 10
"""How long requests under way may take to end after a signal."""

LOAD_AFTER_S = 0.3
"""So long the port answers before stores are loaded: whoever started the server asks first."""

BACKLOG = 2048
"""How many connections may wait to be taken up."""

_LOOPBACK = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - compared with, not listened on
_TICKS_A_SECOND = 10
"""How often uvicorn calls `on_tick`."""

Echo = Callable[[str], None]


class Served(msgspec.Struct, frozen=True):
    """What a server offers: the rows of the command table, and its MCP pages and prompts."""

    commands: tuple[Command, ...] = TABLE
    offers: Offers = STANDARD


class Hooks(msgspec.Struct, frozen=True, kw_only=True):
    """What is called in the thread of a server as it goes its way."""

    listening: Callable[[], None]
    turned: Callable[[], None]
    """Called ten times a second while it serves."""
    stopping: Callable[[], None]


class HttpServer(uvicorn.Server):
    """A server that says when it listens, and whose signals end it without ending the process."""

    def __init__(self, config: uvicorn.Config, sockets: list[socket.socket], hooks: Hooks) -> None:
        super().__init__(config)
        self._sockets = sockets
        self._hooks = hooks
        self._chores: list[asyncio.Task[None]] = []

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer, and say so."""
        await super().startup(sockets=sockets)
        self._chores = [asyncio.create_task(watch_lag()), asyncio.create_task(keep_small())]
        self._hooks.listening()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let requests under way end."""
        for chore in self._chores:
            chore.cancel()
        self._hooks.stopping()
        await super().shutdown(sockets=sockets)

    async def on_tick(self, counter: int) -> bool:
        """Say that the event loop turns, and look at the connections now and then."""
        self._hooks.turned()
        if counter % _TICKS_A_SECOND == 0:
            check_connections(self.server_state.connections, asyncio.get_running_loop().time())
        return await super().on_tick(counter)

    def serve_until_stopped(self) -> None:
        """Serve in this thread until `stop`."""
        self.run(sockets=self._sockets)

    def stop(self) -> None:
        """End at the next opportunity."""
        self.should_exit = True


def http_server(
    opened: OpenRoot,
    addresses: list[ListenAddress],
    echo: Echo,
    served: Served,
    hooks: Hooks,
) -> HttpServer:
    """Return the server of a root, listening on these addresses and not answering yet.

    Raises:
        InvalidInputError: an address would expose an unprotected server.
        UnavailableError: an address cannot be listened on.
    """
    settings = opened.runtime.configuration.settings.global_
    check_exposure(settings, addresses)
    sockets = [bind(address) for address in addresses]
    bound_to = [
        ListenAddress(address.scheme, address.host, bound.getsockname()[1])
        for address, bound in zip(addresses, sockets, strict=True)
    ]
    services = opened.runtime.services(served.commands)
    setup = _setup_link(opened, services)

    def say_where() -> None:
        opened.announce(bound_to[0].url)
        if setup is not None and (url := _own_url(bound_to, settings)) is not None:
            echo(f"setup link: {url}#setup={setup.token}")
        for address in bound_to:
            echo(f"listening: {address.url}")
        asyncio.get_running_loop().call_later(LOAD_AFTER_S, opened.runtime.load)
        hooks.listening()

    def end_streams() -> None:
        hooks.stopping()
        # Streams of MCP clients never end by themselves: the server would wait for them in vain.
        application.endpoints.close()

    application = app(services, served.offers, setup=setup)
    config = _uvicorn_config(application, opened.runtime.root, settings, addresses)
    own = Hooks(listening=say_where, turned=hooks.turned, stopping=end_streams)
    return HttpServer(config, sockets, own)


def _setup_link(opened: OpenRoot, services: Services) -> SetupLink | None:
    """Return the link that signs the new admin in, on a first run."""
    if opened.first_key is None:
        return None
    return SetupLink(services.authenticate(opened.first_key), services.now)


def _own_url(addresses: list[ListenAddress], settings: GlobalSettings) -> str | None:
    """Return a URL by which this machine reaches itself without a proxy, or None."""
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
        http=PatientProtocol,
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
    """Return where to listen: as configured, or one address with what the command line names."""
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
        UnavailableError: the address is in use or not this machine's.
    """
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    # The protocol is named so that asyncio knows it for TCP and switches Nagle's delay off:
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
