"""The server that answers at the moment: found again when it is gone, its session carried over."""

import logging
import threading
import time
from collections.abc import Callable

import msgspec

from qms.domain.errors import QmsError, UnavailableError
from qms.host.stdio.link import BrokenError, Link, NotSentError, Target
from qms.host.stdio.messages import Message
from qms.host.stdio.replies import BusyError, check_status, read_reply
from qms.host.stdio.session import ClientSession

PATIENCE_S = 15.0
"""How long a server that is gone is waited for; after that every request asks once more."""

PAUSE_S = 0.2

log = logging.getLogger(__name__)

_RENEWING = Message(content=b"", method="initialize")


class Moment(msgspec.Struct, frozen=True, eq=False):
    """A link and the session on it, until either is lost."""

    link: Link
    session: ClientSession | None

    def headers(self) -> dict[str, str]:
        """Return what goes with every message of the session, if there is one."""
        return {} if self.session is None else self.session.headers()


class Connection:
    """The way to a server; any thread may use it."""

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
        """Say whether it is over."""
        return self._closing.is_set()

    @property
    def current(self) -> Moment | None:
        """Return the link as it is, without waiting for one."""
        return self._moment

    def rest(self, seconds: float) -> None:
        """Wait, unless it is over meanwhile."""
        self._closing.wait(seconds)

    def moment(self) -> Moment:
        """Return a link to a server that is there, waiting a little for one that is not.

        Raises:
            QmsError: there is none, or it refuses us.
        """
        with self._lock:
            if self._moment is None:
                self._moment = Moment(self._connected(), self._session)
            return self._moment

    def begin(self, session: ClientSession) -> None:
        """Go on in a session that the server has just opened."""
        with self._lock:
            self._session = session
            if self._moment is not None:
                self._moment = Moment(self._moment.link, session)

    def lost(self, moment: Moment) -> None:
        """Take note that the server of this moment is gone."""
        with self._lock:
            if moment is self._moment:
                self._drop(moment)

    def lost_session(self, moment: Moment) -> None:
        """Open another session in the place of the one that the server no longer knows.

        Raises:
            QmsError: it refuses.
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
        """End the session and every connection that rests."""
        self._closing.set()
        with self._lock:
            moment, self._moment = self._moment, None
        if moment is None:
            return
        if moment.session is not None and moment.session.id is not None:
            try:
                moment.link.send("DELETE", moment.headers()).close()
            except (NotSentError, BrokenError):
                log.debug("the server has ended before the session")
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
                    raise error if isinstance(error, QmsError) else _nobody(error) from error
                self.rest(PAUSE_S)
                continue
            self._is_down = False
            return link
        raise UnavailableError("the bridge is ending")

    def _open(self) -> Link:
        link = Link(self._find())
        try:
            link.probe()
            if self._session is not None:
                self._renew(link)
                log.info("session resumed", extra={"url": link.target.url})
        except BaseException:
            link.close()
            raise
        return link

    def _renew(self, link: Link) -> None:
        """Open a session on this link, and say in it what was said before."""
        session = self._session
        assert session is not None
        answer = link.send("POST", {}, session.opening())
        if check_status(answer, _RENEWING, has_session=False) is not None:
            raise UnavailableError("the server does not open another session")
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


def _nobody(error: Exception) -> UnavailableError:
    unavailable = UnavailableError(f"no server answers: {error}")
    unavailable.add_note("start it with `qms serve`")
    return unavailable
