"""Carry MCP between a client on standard input and output and a server over HTTP.

The client notices nothing when the server starts anew: a request that the server has not taken is
sent again, so is one that changes nothing; any other gets an error that says what is uncertain.
"""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from qms.domain.errors import QmsError, UnavailableError
from qms.host.stdio.connection import PATIENCE_S, PAUSE_S, Connection, Moment
from qms.host.stdio.flights import Flight, Flights
from qms.host.stdio.link import Answer, BrokenError, NotSentError, Target
from qms.host.stdio.messages import CALL, PARSE_ERROR, Message, error_answer, read_message
from qms.host.stdio.pipes import Pipes
from qms.host.stdio.replies import (
    BusyError,
    Reply,
    SessionLostError,
    check_status,
    failed,
    read_reply,
    repeatable_tools,
)
from qms.host.stdio.session import ClientSession

MAX_REQUESTS = 128
"""How many requests are under way at once; further ones wait."""

MAX_ATTEMPTS = 8
GRACE_S = 10.0
"""How long requests under way may take to end once the client has closed its end."""

LISTEN_PAUSE_S = 1.0
OUTAGE_PAUSE_S = 5.0

_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"

log = logging.getLogger(__name__)


class Bridge:
    """One client and its server, until the client closes its end."""

    def __init__(
        self, pipes: Pipes, find: Callable[[], Target], *, patience_s: float = PATIENCE_S
    ) -> None:
        self._pipes = pipes
        self._connection = Connection(find, patience_s=patience_s)
        self._flights = Flights()
        self._threads = ThreadPoolExecutor(MAX_REQUESTS, thread_name_prefix="request")
        self._hearing: threading.Thread | None = None
        self._heard: Answer | None = None
        self._repeatable: set[str] = set()

    def run(self) -> None:
        """Carry messages until the client closes its end, and what is under way to its end."""
        try:
            for line in self._pipes.lines():
                message = read_message(line)
                if message is None:
                    self._pipes.answer(error_answer(None, "this is no JSON", code=PARSE_ERROR))
                else:
                    self._take(message)
            self._flights.drain(GRACE_S)
        finally:
            self._close()

    def _close(self) -> None:
        self._flights.drain(0)
        self._connection.close()
        if self._heard is not None:
            self._heard.abort()
        self._threads.shutdown()
        if self._hearing is not None:
            self._hearing.join()

    def _take(self, message: Message) -> None:
        """Send a message on; in this thread those whose order counts."""
        if message.method == "initialize":
            self._serve(self._flights.begin(message))
        elif message.is_request:
            self._threads.submit(self._serve, self._flights.begin(message))
        elif not self._cancels(message):
            self._tell(message)

    def _cancels(self, message: Message) -> bool:
        """Take a request back; say whether the server is not to be told in words."""
        flight = self._flights.find(message.cancels)
        if flight is None:
            return False
        if not flight.message.revision:
            flight.forget()
            return False
        flight.cancel()
        return True

    def _tell(self, message: Message) -> None:
        """Send what nobody answers; a server that is gone does not miss it."""
        moment = self._connection.current
        if moment is None:
            return
        try:
            headers = message.headers() or moment.headers()
            answer = moment.link.send("POST", headers, message.content)
            answer.read()
        except (NotSentError, BrokenError):
            self._connection.lost(moment)
            return
        if message.method == "notifications/initialized" and moment.session is not None:
            moment.session.note(message)
            self._hear_on()

    def _serve(self, flight: Flight) -> None:
        """Have a request answered, by whatever can be said about it."""
        try:
            self._carry(flight)
        except QmsError as error:
            log.warning("request not served", extra={"reason": error.message})
            if not flight.is_cancelled:
                self._pipes.answer(failed(flight.message, error))
        except Exception:
            log.exception("request failed")
            text = "the bridge failed: its log on standard error says why"
            self._pipes.answer(error_answer(flight.message.id, text))
        finally:
            self._flights.end(flight)

    def _carry(self, flight: Flight) -> None:
        while not flight.is_cancelled:
            try:
                moment = self._connection.moment()
            except UnavailableError:
                if not flight.lasts:
                    raise
                flight.rest(OUTAGE_PAUSE_S)
                continue
            flight.attempts += 1
            if self._attempt(flight, moment) or flight.is_cancelled:
                return
            if flight.lasts:
                flight.rest(LISTEN_PAUSE_S)
            elif flight.attempts >= MAX_ATTEMPTS:
                raise UnavailableError("the server takes the request and does not answer it")

    def _attempt(self, flight: Flight, moment: Moment) -> bool:
        """Send a request once; say whether it needs no further attempt.

        Raises:
            QmsError: it was refused, or may have been carried out without an answer.
        """
        try:
            return self._exchange(flight, moment)
        except NotSentError:
            self._connection.lost(moment)
        except SessionLostError:
            self._connection.lost_session(moment)
        except BusyError as busy:
            if flight.attempts >= MAX_ATTEMPTS:
                raise busy.refusal from busy
            flight.rest(busy.after_s)
        except BrokenError as error:
            if flight.is_cancelled:
                return True
            self._connection.lost(moment)
            if not self._may_repeat(flight.message):
                raise _uncertain(flight.message) from error
        return False

    def _exchange(self, flight: Flight, moment: Moment) -> bool:
        message = flight.message
        is_first = message.method == "initialize"
        headers = message.headers() or ({} if is_first else moment.headers())
        answer = moment.link.send("POST", headers, message.content)
        flight.follow(answer)
        try:
            has_session = "Mcp-Session-Id" in headers
            refusal = check_status(answer, message, has_session=has_session)
            if refusal is not None:
                self._pipes.write(refusal)
                return True
            for content in answer.messages():
                reply = read_reply(content)
                if self._forward(flight, moment, answer, reply):
                    return True
        finally:
            answer.close()
        raise BrokenError("the answer ended early")

    def _forward(self, flight: Flight, moment: Moment, answer: Answer, reply: Reply) -> bool:
        """Hand a message of the server on; say whether it was the answer."""
        message = flight.message
        if not reply.is_answer:
            if reply.method != _ACKNOWLEDGED or flight.attempts == 1:
                self._pipes.write(reply.content)
            return False
        if flight.lasts and reply.is_success:
            return False  # the server ends: the client goes on listening to the next one
        if reply.is_success:
            self._learn(message, moment, answer, reply)
        self._pipes.write(reply.content)
        return True

    def _learn(self, message: Message, moment: Moment, answer: Answer, reply: Reply) -> None:
        """Remember of an answer what another session, or another attempt, depends on."""
        if message.method == "initialize":
            session = ClientSession(message)
            session.begin(answer.header("Mcp-Session-Id"), reply.content)
            self._connection.begin(session)
        elif message.method == "tools/list":
            self._repeatable |= repeatable_tools(reply.content)
        elif moment.session is not None:
            moment.session.note(message)

    def _may_repeat(self, message: Message) -> bool:
        return message.method != CALL or message.name in self._repeatable

    def _hear_on(self) -> None:
        """Begin to hear what the server says unasked, in revisions with sessions."""
        if self._hearing is None:
            self._hearing = threading.Thread(target=self._hear, name="hearing", daemon=True)
            self._hearing.start()

    def _hear(self) -> None:
        while not self._connection.is_closing:
            try:
                if not self._hear_once(self._connection.moment()):
                    return
            except QmsError as error:
                log.warning("waiting for the server", extra={"reason": error.message})
                self._connection.rest(OUTAGE_PAUSE_S)
            self._connection.rest(PAUSE_S)

    def _hear_once(self, moment: Moment) -> bool:
        """Hand on what the server says until it ends; say whether to ask again."""
        try:
            self._heard = moment.link.send("GET", moment.headers())
            if self._heard.status == 404:
                self._connection.lost_session(moment)
            elif self._heard.status >= 400:
                return False
            for content in self._heard.messages() if self._heard.is_stream else ():
                self._pipes.write(content)
        except (NotSentError, BrokenError):
            self._connection.lost(moment)
        finally:
            if self._heard is not None:
                self._heard.close()
        return True


def _uncertain(message: Message) -> UnavailableError:
    error = UnavailableError(
        f"the connection to the server broke while {message.name or message.method} was under way:"
        " it may or may not have been carried out",
        tool=message.name,
    )
    error.add_note("look before you repeat it")
    return error
