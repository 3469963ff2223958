"""Sessions of the admin page: a cookie in place of a key, in RAM, never valid on `/mcp`.

A session ends after twelve idle hours, with its key, or with its user. Browsers send the cookie
with requests of other sites too, so a change also needs a CSRF token and this server's Origin.
"""

import hashlib
import hmac
import secrets
import threading
from datetime import datetime, timedelta

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from qms.commands.gate import Gate
from qms.config.api_keys import KeyMatch
from qms.config.settings import GlobalSettings
from qms.http.auth import authenticate, key_of, note_key
from qms.memory.errors import NotAllowedError, NotAuthenticatedError

COOKIE = "qms_session"
CSRF_HEADER = "x-csrf-token"
UNATTENDED_HEADER = "x-unattended"
"""Sent by the page with its automatic requests, which do not keep the session alive."""
IDLE = timedelta(hours=12)
MAX_SESSIONS = 1000
MAX_SESSIONS_OF_A_USER = 50
"""At this limit the user's longest idle session ends; other users keep theirs."""

_TOKEN_BYTES = 32
_NONCE_BYTES = 8
_SAFE_METHODS = frozenset({"GET", "HEAD"})


class Session(msgspec.Struct):
    """One signed-in browser."""

    who: KeyMatch
    csrf_secret: bytes
    seen_utc: datetime

    def csrf_token(self) -> str:
        """Return a new token; all tokens of a session are valid until it ends."""
        nonce = secrets.token_hex(_NONCE_BYTES)
        return f"{nonce}.{self._mac(nonce)}"

    def accepts(self, token: str) -> bool:
        """Say whether a token is one of this session's."""
        nonce, _, mac = token.partition(".")
        return hmac.compare_digest(mac.encode(), self._mac(nonce).encode())

    def _mac(self, nonce: str) -> str:
        return hmac.new(self.csrf_secret, nonce.encode(), hashlib.sha256).hexdigest()


class Sessions:
    """All sessions of one process; any thread may call any method."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._lock = threading.Lock()
        self._sessions: dict[bytes, Session] = {}

    def begin(self, who: KeyMatch) -> tuple[str, Session]:
        """Return the cookie's value and the session of a user whose key was checked."""
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        session = Session(who, secrets.token_bytes(_TOKEN_BYTES), self._gate.now)
        with self._lock:
            self._make_room(who.user)
            self._sessions[_digest(token)] = session
        return token, session

    def identify(self, request: Request) -> KeyMatch:
        """Return the user of a request, by its key or else by its session.

        Raises:
            NotAuthenticatedError: neither is valid.
            NotAllowedError: the session is valid, but the request may come from another site.
            RateLimitedError: the key of the session asks too often.
        """
        if not uses_session(request):
            return authenticate(request, self._gate)
        session = self.find(request)
        if session is None:
            raise NotAuthenticatedError("the session has ended: sign in again")
        if request.method not in _SAFE_METHODS:
            self._check_own_site(request, session)
        self._gate.count_use(session.who)
        note_key(request, session.who)
        return session.who

    def find(self, request: Request) -> Session | None:
        """Return the session that a request carries, if it is still valid.

        Requests of a person keep it alive; automatic requests of an open page do not.
        """
        digest, now = _digest(request.cookies.get(COOKIE, "")), self._gate.now
        with self._lock:
            session = self._sessions.get(digest)
            if session is None:
                return None
            if now - session.seen_utc >= IDLE or not self._gate.still_holds(session.who):
                del self._sessions[digest]
                return None
            if UNATTENDED_HEADER not in request.headers:
                session.seen_utc = now
        return session

    def end(self, request: Request) -> None:
        """End the session that a request carries."""
        with self._lock:
            self._sessions.pop(_digest(request.cookies.get(COOKIE, "")), None)

    def _check_own_site(self, request: Request, session: Session) -> None:
        if not session.accepts(request.headers.get(CSRF_HEADER, "")):
            raise NotAllowedError(
                "a change with a session needs its token in X-CSRF-Token: GET /admin/session"
            )
        if not _is_own_origin(request, self._gate.settings.global_):
            raise NotAllowedError("a change with a session must come from this server's own page")

    def _make_room(self, user: str) -> None:
        own = [key for key, session in self._sessions.items() if session.who.user == user]
        if len(own) >= MAX_SESSIONS_OF_A_USER:
            self._drop_idlest(own)
        elif len(self._sessions) >= MAX_SESSIONS:
            self._drop_idlest(list(self._sessions))

    def _drop_idlest(self, keys: list[bytes]) -> None:
        del self._sessions[min(keys, key=lambda key: self._sessions[key].seen_utc)]


def uses_session(request: Request) -> bool:
    """Say whether a request has a session and no key; only the tier is checked then."""
    return key_of(request) is None and COOKIE in request.cookies


def set_cookie(response: Response, token: str, request: Request, *, behind_proxy: bool) -> None:
    """Set the session cookie; it is `Secure` when the browser uses TLS."""
    is_secure = request.url.scheme == "https" or behind_proxy
    response.set_cookie(COOKIE, token, path="/", httponly=True, samesite="strict", secure=is_secure)


def clear_cookie(response: Response) -> None:
    """Delete the session cookie."""
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")


def _is_own_origin(request: Request, settings: GlobalSettings) -> bool:
    origin, host = request.headers.get("origin", ""), request.headers.get("host", "")
    # A proxy speaks TLS with the browser and plain HTTP with us.
    scheme = "https" if settings.behind_proxy else request.url.scheme
    return origin == f"{scheme}://{host}" or origin in settings.allowed_origins


def _digest(token: str) -> bytes:
    # Looked up by hash, so that the time of a lookup tells nothing about a token.
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
