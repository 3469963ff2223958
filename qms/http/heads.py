"""Checks the head of a request: its size, Host and Origin."""

import re
from collections.abc import Iterable

import msgspec
from starlette.exceptions import HTTPException
from starlette.types import Scope

from qms.auth.keyring import no_valid_key
from qms.config.addresses import is_loopback
from qms.config.settings import GlobalSettings
from qms.memory.errors import InvalidInputError, NotAllowedError

MAX_URI_BYTES = 8 * 1024
MAX_HEADERS = 100
MAX_HEADER_BYTES = 32 * 1024

CREDENTIALS = (b"authorization", b"x-api-key")

_LINE_EXTRA_BYTES = 4
"""The colon, the space and the line end, which the parser has removed."""

_AUTHORITY = re.compile(
    r"(?P<host>\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?)"
    r"(?::(?P<port>[0-9]{1,5}))?"
)
_DEFAULT_PORTS = {"http": 80, "https": 443}


class Head(msgspec.Struct):
    """The headers of a request that the guard checks."""

    count: int = 0
    size_bytes: int = 0
    credential_bytes: int = 0
    hosts: list[str] = []
    origins: list[str] = []
    has_length: bool = False
    has_coding: bool = False
    forwarded_for: str = ""
    forwarded_scheme: str = ""


class Authority(msgspec.Struct, frozen=True):
    """A host and port from a header or the configuration, in lower case and without brackets."""

    host: str
    port: int | None = None


def read_head(scope: Scope) -> Head:
    """Collect what the guard checks, in one pass over the headers."""
    head = Head()
    for name, value in scope["headers"]:
        size = len(name) + len(value) + _LINE_EXTRA_BYTES
        head.count += 1
        head.size_bytes += size
        match name:
            case b"host":
                head.hosts.append(value.decode("latin-1"))
            case b"origin":
                head.origins.append(value.decode("latin-1"))
            case b"authorization" | b"x-api-key":
                head.credential_bytes += size
            case b"content-length":
                head.has_length = True
            case b"transfer-encoding":
                head.has_coding = True
            case b"x-forwarded-for":
                head.forwarded_for = value.decode("latin-1")
            case b"x-forwarded-proto":
                head.forwarded_scheme = value.decode("latin-1")
    return head


def check_limits(scope: Scope, head: Head) -> None:
    """Raise when the head is longer than allowed, or gives its body two lengths.

    Raises:
        HTTPException: 414 or 431.
        NotAuthenticatedError: only the key is too long, so it cannot be valid.
        InvalidInputError: it carries both a length and a transfer coding.
    """
    if len(scope["raw_path"]) + len(scope["query_string"]) > MAX_URI_BYTES:
        raise HTTPException(414)
    if head.count > MAX_HEADERS or head.size_bytes - head.credential_bytes > MAX_HEADER_BYTES:
        raise HTTPException(431)
    if head.size_bytes > MAX_HEADER_BYTES:
        raise no_valid_key()
    if head.has_length and head.has_coding:
        # A proxy may read another body than we do (request smuggling).
        raise InvalidInputError(
            "a request has Content-Length or Transfer-Encoding, not both", field="Content-Length"
        )


def only_host(head: Head) -> Authority:
    """Return the host of a request.

    Raises:
        InvalidInputError: there is none, more than one, or it is not a host.
    """
    found = parse_authority(head.hosts[0]) if len(head.hosts) == 1 else None
    if found is None:
        raise InvalidInputError("a request must have exactly one valid Host header", field="Host")
    return found


def parse_authority(text: str) -> Authority | None:
    """Parse `host[:port]`; return None for any other text."""
    found = _AUTHORITY.fullmatch(text)
    if found is None:
        return None
    port = found["port"]
    return Authority(found["host"].strip("[]").lower(), None if port is None else int(port))


class AllowedNames:
    """The hosts and origins of one configuration."""

    def __init__(self, settings: GlobalSettings) -> None:
        self.settings = settings
        self._hosts = frozenset(_authorities(settings.allowed_hosts))
        self._origins = frozenset(origin.lower() for origin in settings.allowed_origins)

    def check_host(self, host: Authority, scope: Scope) -> None:
        """Raise `HTTPException` 421 unless the server answers to this host.

        Loopback names are always accepted, with the port that received the request.
        """
        own_port = (scope.get("server") or ("", None))[1]
        port = _DEFAULT_PORTS[scope["scheme"]] if host.port is None else host.port
        if port == own_port and is_loopback(host.host):
            return
        if Authority(host.host) in self._hosts or Authority(host.host, port) in self._hosts:
            return
        raise HTTPException(421)

    def check_origin(self, head: Head, scope: Scope) -> str | None:
        """Return the allowed foreign origin of a request; None for no origin or our own.

        Raises:
            NotAllowedError: the origin is not allowed.
        """
        if not head.origins:
            return None
        origin = head.origins[0].lower()
        if len(head.origins) == 1:
            # A proxy may terminate TLS without sending X-Forwarded-Proto.
            schemes = (
                {scope["scheme"], "https"} if self.settings.behind_proxy else {scope["scheme"]}
            )
            if origin in {f"{scheme}://{head.hosts[0].lower()}" for scheme in schemes}:
                return None
            if origin in self._origins:
                return head.origins[0]
        raise NotAllowedError(
            "this origin may not call the server: an admin can list it in allowedOrigins",
            field="Origin",
        )


def _authorities(texts: Iterable[str]) -> Iterable[Authority]:
    return (found for text in texts if (found := parse_authority(text)) is not None)
