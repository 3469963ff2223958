"""Links that sign a user in once, from this machine: that of a first run, and those made later."""

import hashlib
import hmac
import secrets
import threading
from collections import deque
from contextlib import suppress
from datetime import datetime, timedelta

from starlette.requests import Request

from qms.config.addresses import is_loopback
from qms.config.api_keys import KeyMatch
from qms.memory.errors import NotAllowedError

LIFETIME = timedelta(minutes=30)
FRESH_LIFETIME = timedelta(minutes=5)
"""Of a link that a user makes: it is opened at once."""

MAX_LINKS = 16
"""The number of unused links; the oldest one gives way."""

_TOKEN_BYTES = 32
_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip")


class SetupLink:
    """A one-time token for the session of a user: the admin of the first run, or whoever asked."""

    def __init__(self, who: KeyMatch, now: datetime, lifetime: timedelta = LIFETIME) -> None:
        self.token = secrets.token_urlsafe(_TOKEN_BYTES)
        self.ends_utc = now + lifetime
        self._who = who
        self._digest: bytes | None = _digest(self.token)
        self._lock = threading.Lock()

    def redeem(self, token: str, request: Request, now: datetime) -> KeyMatch:
        """Return the user to sign in; the link cannot be used again.

        Raises:
            NotAllowedError: the token is wrong, used, expired, or not from this machine.
        """
        is_here = _is_from_here(request)
        with self._lock:
            is_right = self._digest is not None and hmac.compare_digest(
                self._digest, _digest(token)
            )
            if not (is_here and is_right and now < self.ends_utc):
                raise refused()
            self._digest = None
        return self._who


class SignInLinks:
    """The links that can still be used; any thread may call any method."""

    def __init__(self, first: SetupLink | None) -> None:
        self._links = deque([first] if first is not None else [], MAX_LINKS)

    def make(self, who: KeyMatch, now: datetime) -> SetupLink:
        """Return a new link for a user whose key was checked."""
        link = SetupLink(who, now, FRESH_LIFETIME)
        self._links.append(link)
        return link

    def redeem(self, token: str, request: Request, now: datetime) -> KeyMatch:
        """Return the user to sign in; the link cannot be used again.

        Raises:
            NotAllowedError: the token is wrong, used, expired, or not from this machine.
        """
        for link in list(self._links):
            with suppress(NotAllowedError):
                return link.redeem(token, request, now)
        raise refused()


def refused() -> NotAllowedError:
    """Return the same error for every setup link that does not work."""
    return NotAllowedError(
        "this setup link does not work: it is valid once, for some minutes, on the server's own"
        " machine; make another there with `memoryctl open`, or sign in with a key"
    )


def _is_from_here(request: Request) -> bool:
    """Say whether a request comes from this machine, and not through a proxy on it."""
    is_forwarded = any(name in request.headers for name in _FORWARDED)
    return request.client is not None and is_loopback(request.client.host) and not is_forwarded


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
