"""The setup link of a first run: signs the admin in once, within 30 minutes, from this machine."""

import hashlib
import hmac
import secrets
import threading
from datetime import datetime, timedelta

from starlette.requests import Request

from qms.config.addresses import is_loopback
from qms.config.api_keys import KeyMatch
from qms.memory.errors import NotAllowedError

LIFETIME = timedelta(minutes=30)
_TOKEN_BYTES = 32
_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip")


class SetupLink:
    """A one-time token for the session of the admin that the first run made."""

    def __init__(self, who: KeyMatch, now: datetime) -> None:
        self.token = secrets.token_urlsafe(_TOKEN_BYTES)
        self._who = who
        self._ends_utc = now + LIFETIME
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
            if not (is_here and is_right and now < self._ends_utc):
                raise refused()
            self._digest = None
        return self._who


def refused() -> NotAllowedError:
    """Return the same error for every setup link that does not work."""
    return NotAllowedError(
        "this setup link does not work: it is valid once, for 30 minutes, on the server's own"
        " machine; sign in with a key, or make one there with `memoryctl keys create admin`"
    )


def _is_from_here(request: Request) -> bool:
    """Say whether a request comes from this machine, and not through a proxy on it."""
    is_forwarded = any(name in request.headers for name in _FORWARDED)
    return request.client is not None and is_loopback(request.client.host) and not is_forwarded


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
