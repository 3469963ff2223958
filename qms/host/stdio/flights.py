"""Requests under way: who waits for an answer, and who no longer does."""

import threading

from qms.host.stdio.link import Answer
from qms.host.stdio.messages import LISTEN, Message


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
        """Say whether nobody waits for the answer any more."""
        return self._over.is_set()

    @property
    def lasts(self) -> bool:
        """Say whether it has no end of its own."""
        return self.message.method == LISTEN

    def follow(self, answer: Answer) -> None:
        """Take note of the answer that is being read, so that it can be broken off."""
        with self._lock:
            self._answer = answer
        if self.is_cancelled and self.message.revision:
            answer.abort()

    def forget(self) -> None:
        """Wait for no answer any more; one that is being read may still arrive."""
        self._over.set()

    def cancel(self) -> None:
        """Break the answer off."""
        self.forget()
        with self._lock:
            if self._answer is not None:
                self._answer.abort()

    def rest(self, seconds: float) -> None:
        """Wait, unless it is cancelled meanwhile."""
        self._over.wait(seconds)


class Flights:
    """All requests under way."""

    def __init__(self) -> None:
        self._flights: dict[int | float | str, Flight] = {}
        self._changed = threading.Condition()

    def begin(self, message: Message) -> Flight:
        """Take note of a request."""
        flight = Flight(message)
        assert message.id is not None
        with self._changed:
            self._flights[message.id] = flight
        return flight

    def end(self, flight: Flight) -> None:
        """Take note that a request is answered, or never will be."""
        with self._changed:
            identity = flight.message.id
            if identity is not None and self._flights.get(identity) is flight:
                del self._flights[identity]
            self._changed.notify_all()

    def find(self, identity: int | float | str | None) -> Flight | None:
        """Return the request with this id."""
        return None if identity is None else self._flights.get(identity)

    def drain(self, within_s: float) -> None:
        """Wait until every request that has an end is answered, and cancel what is left."""
        with self._changed:
            self._changed.wait_for(
                lambda: all(one.lasts for one in self._flights.values()), within_s
            )
            left = list(self._flights.values())
        for flight in left:
            flight.cancel()
