"""Authentication of a request by the key in its headers, never in its URL."""

import ipaddress

from starlette.requests import Request

from qms.commands.gate import Gate
from qms.config.addresses import is_loopback
from qms.config.api_keys import KeyMatch
from qms.http.exchanges import EXCHANGE, Exchange

AGENT_HEADER = "x-agent-id"

_SCHEME = "bearer"
_IPV6_PREFIX = 64


def key_of(request: Request) -> str | None:
    """Return the key that a request carries, or None."""
    scheme, _, credentials = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == _SCHEME and credentials.strip():
        return credentials.strip()
    return request.headers.get("x-api-key") or None


def authenticate(request: Request, gate: Gate) -> KeyMatch:
    """Return the user and key id of the key that a request carries.

    Raises:
        NotAuthenticatedError: there is no key, or it is unknown.
        RateLimitedError: too many wrong keys came from this address, or this key asks too often.
    """
    return check_key(request, gate, key_of(request))


def check_key(request: Request, gate: Gate, key: str | None) -> KeyMatch:
    """Return the user and key id of a key from any part of the request.

    Raises:
        NotAuthenticatedError: there is no key, or it is unknown.
        RateLimitedError: too many wrong keys came from this address, or this key asks too often.
    """
    found = gate.authenticate(key, source_of(request))
    note_key(request, found)
    return found


def note_key(request: Request, found: KeyMatch) -> None:
    """Tell the guard which key the request uses."""
    exchange: Exchange | None = request.scope.get(EXCHANGE)
    if exchange is not None:
        exchange.key_id = found.key_id


def source_of(request: Request) -> str:
    """Return the source address to count wrong keys by: an IPv4 address or an IPv6 /64.

    One machine can use every address of its /64.
    """
    address = request.client.host if request.client else ""
    if ":" not in address or is_loopback(address):
        return address
    try:
        return str(ipaddress.IPv6Network((address.partition("%")[0], _IPV6_PREFIX), strict=False))
    except ValueError:
        return address
