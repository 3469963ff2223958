"""Forwards MCP between a client on standard input and output and a server over HTTP.

A server restart is transparent to the client: a request that the server did not receive, or that
changes nothing, is sent again. Any other gets an error that says what is uncertain.
"""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from qms.bridge.connection import PATIENCE_S, PAUSE_S, Connection, Moment
from qms.bridge.in_flight import Flight, Flights
from qms.bridge.link import Answer, BrokenError, NotSentError, Target
from qms.bridge.messages import (
    CALL,
    INVALID_REQUEST,
    PARSE_ERROR,
    Message,
    error_answer,
    read_message,
)
from qms.bridge.pipes import Pipes
from qms.bridge.replies import (
    BusyError,
    Reply,
    SessionLostError,
    check_status,
    failed,
    read_reply,
    repeatable_tools,
)
from qms.bridge.session import ClientSession
from qms.memory.errors import QmsError, UnavailableError

MAX_REQUESTS = 128
"""How many requests may be in flight; further ones wait."""

MAX_ATTEMPTS = 8
GRACE_S = 10.0
"""How long requests in flight may take to end after the client has closed its end."""

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
        self._listener: threading.Thread | None = None
        self._listened: Answer | None = None
        self._repeatable: set[str] = set()

    def run(self) -> None:
        """Forward messages until the client closes its end, then wait for requests in flight."""
        try:
            for line in self._pipes.lines():
                message = read_message(line)
                if message is None:
                    self._pipes.answer(error_answer(None, "this is not JSON", code=PARSE_ERROR))
                elif message.fault:
                    self._pipes.answer(
                        error_answer(message.id, message.fault, code=INVALID_REQUEST)
                    )
                else:
                    self._take(message)
            self._flights.drain(GRACE_S)
        finally:
            self._close()

    def _close(self) -> None:
        self._flights.drain(0)
        self._connection.close()
        if self._listened is not None:
            self._listened.abort()
        self._threads.shutdown()
        if self._listener is not None:
            self._listener.join()

    def _take(self, message: Message) -> None:
        """Forward a message; in this thread if its order matters."""
        if message.method == "initialize":
            self._serve(self._flights.begin(message))
        elif message.is_request:
            self._threads.submit(self._serve, self._flights.begin(message))
        elif not self._cancels(message):
            self._notify(message)

    def _cancels(self, message: Message) -> bool:
        """Cancel a request; return True if closing its connection told the server already."""
        flight = self._flights.find(message.cancels)
        if flight is None:
            return False
        if not flight.message.revision:
            flight.forget()
            return False
        flight.cancel()
        return True

    def _notify(self, message: Message) -> None:
        """Send a notification, without a retry: a new server does not need it."""
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
            self._start_listening()

    def _serve(self, flight: Flight) -> None:
        """Answer a request with the server's answer or with an error."""
        try:
            self._send_until_answered(flight)
        except QmsError as error:
            log.warning("request not served", extra={"reason": error.message})
            if not flight.is_cancelled:
                self._pipes.answer(failed(flight.message, error))
        except Exception:  # the request boundary of the bridge: logged, others are served
            log.exception("request failed")
            text = "the bridge failed: its log on standard error says why"
            self._pipes.answer(error_answer(flight.message.id, text))
        finally:
            self._flights.end(flight)

    def _send_until_answered(self, flight: Flight) -> None:
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
                raise UnavailableError("the server accepts the request but does not answer it")

    def _attempt(self, flight: Flight, moment: Moment) -> bool:
        """Send a request once; return False if it needs another attempt.

        Raises:
            QmsError: it was refused, or may have run without an answer.
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
        """Forward a message of the server; return True if it was the answer."""
        message = flight.message
        if not reply.is_answer:
            if reply.method != _ACKNOWLEDGED or flight.attempts == 1:
                self._pipes.write(reply.content)
            return False
        if flight.lasts and reply.is_success:
            return False  # the server stops: the client goes on listening to the next one
        if reply.is_success:
            self._learn(message, moment, answer, reply)
        self._pipes.write(reply.content)
        return True

    def _learn(self, message: Message, moment: Moment, answer: Answer, reply: Reply) -> None:
        """Remember what a later session or attempt needs from an answer."""
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

    def _start_listening(self) -> None:
        """Start to forward the server's notifications, in revisions with sessions."""
        if self._listener is None:
            self._listener = threading.Thread(target=self._listen, name="listener", daemon=True)
            self._listener.start()

    def _listen(self) -> None:
        while not self._connection.is_closing:
            try:
                if not self._listen_once(self._connection.moment()):
                    return
            except QmsError as error:
                log.warning("waiting for the server", extra={"reason": error.message})
                self._connection.rest(OUTAGE_PAUSE_S)
            self._connection.rest(PAUSE_S)

    def _listen_once(self, moment: Moment) -> bool:
        """Forward notifications until their stream ends; return True to open another."""
        try:
            self._listened = moment.link.send("GET", moment.headers())
            if self._listened.status == 404:
                self._connection.lost_session(moment)
            elif self._listened.status >= 400:
                return False
            for content in self._listened.messages() if self._listened.is_stream else ():
                self._pipes.write(content)
        except (NotSentError, BrokenError):
            self._connection.lost(moment)
        finally:
            if self._listened is not None:
                self._listened.close()
        return True


def _uncertain(message: Message) -> UnavailableError:
    error = UnavailableError(
        f"the connection to the server broke while {message.name or message.method} was running:"
        " it may or may not have been carried out",
        tool=message.name,
    )
    error.add_note("check the result before you repeat it")
    return error
