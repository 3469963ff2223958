"""Who sends a request: the key in its headers, never in its URL."""

import ipaddress

from starlette.requests import Request

from qms.api.exchanges import EXCHANGE, Exchange
from qms.config.addresses import is_loopback
from qms.config.keys import KeyMatch
from qms.service.commands import Services

AGENT_HEADER = "x-agent-id"

_SCHEME = "bearer"
_IPV6_PREFIX = 64


def key_of(request: Request) -> str | None:
    """Return the key that a request carries, or None."""
    scheme, _, credentials = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == _SCHEME and credentials.strip():
        return credentials.strip()
    return request.headers.get("x-api-key") or None


def authenticate(request: Request, services: Services) -> KeyMatch:
    """Return whose key a request carries.

    Raises:
        NotAuthenticatedError: none, or one that nobody holds.
        RateLimitedError: too many wrong keys came from there, or this key asks too often.
    """
    return check_key(request, services, key_of(request))


def check_key(request: Request, services: Services, key: str | None) -> KeyMatch:
    """Return whose key it is, wherever in the request it stood.

    Raises:
        NotAuthenticatedError: none, or one that nobody holds.
        RateLimitedError: too many wrong keys came from there, or this key asks too often.
    """
    found = services.authenticate(key, source_of(request))
    note_key(request, found)
    return found


def note_key(request: Request, found: KeyMatch) -> None:
    """Tell the guard whose request it is."""
    exchange: Exchange | None = request.scope.get(EXCHANGE)
    if exchange is not None:
        exchange.key_id = found.key_id


def source_of(request: Request) -> str:
    """Return where a request comes from, so that one place counts once.

    A network of IPv6 gives each of its machines more addresses than anybody could count.
    """
    address = request.client.host if request.client else ""
    if ":" not in address or is_loopback(address):
        return address
    try:
        return str(ipaddress.IPv6Network((address.partition("%")[0], _IPV6_PREFIX), strict=False))
    except ValueError:
        return address
