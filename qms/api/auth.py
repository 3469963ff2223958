"""Who sends a request: the key in its headers, never in its URL."""

from starlette.requests import Request

from qms.config.keys import KeyMatch
from qms.service.commands import Services

AGENT_HEADER = "x-agent-id"

_SCHEME = "bearer"


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
    """
    return check_key(request, services, key_of(request))


def check_key(_request: Request, services: Services, key: str | None) -> KeyMatch:
    """Return whose key it is, wherever in the request it stood.

    Raises:
        NotAuthenticatedError: none, or one that nobody holds.
    """
    return services.authenticate(key)
