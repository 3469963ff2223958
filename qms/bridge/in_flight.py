"""Requests in flight: lookup by id, cancellation and draining."""

import threading

from qms.bridge.link import Answer
from qms.bridge.messages import LISTEN, Message


class Flight:
    """One request of the client until it is answered; any thread may cancel it."""

    def __init__(self, message: Message) -> None:
        self.message = message
        self.attempts = 0
        self._over = threading.Event()
        self._answer: Answer | None = None
        self._lock = threading.Lock()

    @property
    def is_cancelled(self) -> bool:
        """Say whether the client no longer waits for the answer."""
        return self._over.is_set()

    @property
    def lasts(self) -> bool:
        """Say whether it lasts until it is cancelled."""
        return self.message.method == LISTEN

    def follow(self, answer: Answer) -> None:
        """Set the answer that is being read, so that it can be aborted."""
        with self._lock:
            self._answer = answer
        if self.is_cancelled and self.message.revision:
            answer.abort()

    def forget(self) -> None:
        """Stop waiting for an answer; one that is being read may still arrive."""
        self._over.set()

    def cancel(self) -> None:
        """Abort the answer."""
        self.forget()
        with self._lock:
            if self._answer is not None:
                self._answer.abort()

    def rest(self, seconds: float) -> None:
        """Wait, or return early when the request is cancelled."""
        self._over.wait(seconds)


class Flights:
    """All requests in flight."""

    def __init__(self) -> None:
        self._flights: dict[int | float | str, Flight] = {}
        self._changed = threading.Condition()

    def begin(self, message: Message) -> Flight:
        """Add a request."""
        flight = Flight(message)
        assert message.id is not None
        with self._changed:
            self._flights[message.id] = flight
        return flight

    def end(self, flight: Flight) -> None:
        """Remove a request that is answered or has failed."""
        with self._changed:
            identity = flight.message.id
            if identity is not None and self._flights.get(identity) is flight:
                del self._flights[identity]
            self._changed.notify_all()

    def find(self, identity: int | float | str | None) -> Flight | None:
        """Return the request with this id."""
        return None if identity is None else self._flights.get(identity)

    def drain(self, within_s: float) -> None:
        """Wait until every request that does not last is answered, then cancel the rest."""
        with self._changed:
            self._changed.wait_for(
                lambda: all(one.lasts for one in self._flights.values()), within_s
            )
            left = list(self._flights.values())
        for flight in left:
            flight.cancel()
