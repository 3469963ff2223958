"""The connection to the current server: reconnects when it is gone and restores the session."""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack

import msgspec

from qms.bridge.link import BrokenError, Link, NotSentError, Target
from qms.bridge.messages import Message
from qms.bridge.replies import BusyError, check_status, read_reply
from qms.bridge.session import ClientSession
from qms.memory.errors import QmsError, UnavailableError

PATIENCE_S = 15.0
"""How long to wait for a server that is gone; after that each request makes one attempt."""

PAUSE_S = 0.2

log = logging.getLogger(__name__)

_RENEWING = Message(content=b"", method="initialize")


class Moment(msgspec.Struct, frozen=True, eq=False):
    """A link and its session, until either is lost."""

    link: Link
    session: ClientSession | None

    def headers(self) -> dict[str, str]:
        """Return the headers of the session, if there is one."""
        return {} if self.session is None else self.session.headers()


class Connection:
    """The connection to a server; any thread may use it."""

    def __init__(self, find: Callable[[], Target], *, patience_s: float = PATIENCE_S) -> None:
        self._find = find
        self._patience_s = patience_s
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._session: ClientSession | None = None
        self._moment: Moment | None = None
        self._is_down = False

    @property
    def is_closing(self) -> bool:
        """Say whether `close` was called."""
        return self._closing.is_set()

    @property
    def current(self) -> Moment | None:
        """Return the current link, or None, without waiting for one."""
        return self._moment

    def rest(self, seconds: float) -> None:
        """Wait, or return early when `close` is called."""
        self._closing.wait(seconds)

    def moment(self) -> Moment:
        """Return a link to a running server, waiting up to `patience_s` for one.

        Raises:
            QmsError: there is none, or it refuses the connection.
        """
        with self._lock:
            if self._moment is None:
                self._moment = Moment(self._connected(), self._session)
            return self._moment

    def begin(self, session: ClientSession) -> None:
        """Use a session that the server has just opened."""
        with self._lock:
            self._session = session
            if self._moment is not None:
                self._moment = Moment(self._moment.link, session)

    def lost(self, moment: Moment) -> None:
        """Drop the link of a server that is gone."""
        with self._lock:
            if moment is self._moment:
                self._drop(moment)

    def lost_session(self, moment: Moment) -> None:
        """Open a new session in place of one that the server no longer knows.

        Raises:
            QmsError: the server refuses it.
        """
        with self._lock:
            if moment is not self._moment:
                return
            try:
                self._renew(moment.link)
                self._moment = Moment(moment.link, self._session)
            except (NotSentError, BrokenError, BusyError):
                self._drop(moment)

    def close(self) -> None:
        """End the session and close every idle connection."""
        self._closing.set()
        with self._lock:
            moment, self._moment = self._moment, None
        if moment is None:
            return
        if moment.session is not None and moment.session.id is not None:
            try:
                moment.link.send("DELETE", moment.headers()).close()
            except (NotSentError, BrokenError):
                log.debug("session not ended: the server is gone")
        moment.link.close()

    def _drop(self, moment: Moment) -> None:
        moment.link.close()
        self._moment = None

    def _connected(self) -> Link:
        end = time.monotonic() + (0.0 if self._is_down else self._patience_s)
        while not self.is_closing:
            try:
                link = self._open()
            except (NotSentError, BrokenError, BusyError, UnavailableError) as error:
                if time.monotonic() >= end:
                    self._is_down = True
                    raise error if isinstance(error, QmsError) else _no_server(error) from error
                self.rest(PAUSE_S)
                continue
            self._is_down = False
            return link
        raise UnavailableError("the bridge is ending")

    def _open(self) -> Link:
        link = Link(self._find())
        with ExitStack() as undo:
            undo.callback(link.close)
            link.probe()
            if self._session is not None:
                self._renew(link)
                log.info("session resumed", extra={"url": link.target.url})
            undo.pop_all()
        return link

    def _renew(self, link: Link) -> None:
        """Open a session on this link and repeat the client's subscriptions in it."""
        session = self._session
        assert session is not None
        answer = link.send("POST", {}, session.opening())
        if check_status(answer, _RENEWING, has_session=False) is not None:
            raise UnavailableError("the server refuses a new session")
        content = next((one for one in answer.messages() if read_reply(one).is_answer), None)
        answer.close()
        if content is None:
            raise BrokenError("no answer to initialize")
        session.begin(answer.header("Mcp-Session-Id"), content)
        for said in session.repetition():
            repeated = link.send("POST", session.headers(), said)
            if repeated.status < 300:
                for _ in repeated.messages():
                    pass
            repeated.close()


def _no_server(error: Exception) -> UnavailableError:
    unavailable = UnavailableError(f"no server answers: {error}")
    unavailable.add_note("start it with `qms serve`")
    return unavailable
