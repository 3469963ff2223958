"""Limits requests to a language model: two at a time, and a circuit breaker after failures.

Without it, an endpoint that hangs would block every worker until its timeout, one request after
the other. Secrets are redacted from the text that is sent.
"""

import logging
import threading
import time
from collections.abc import Callable

from qms.memory.errors import UnavailableError
from qms.memory.ports import ChatModel
from qms.text.secrets import without_secrets

log = logging.getLogger(__name__)

MAX_AT_ONCE = 2
"""At most this many requests wait for a model at a time; the next one fails at once."""

FAILURES = 2
REST_S = 60.0
"""After `FAILURES` failures in a row, requests fail at once for `REST_S` seconds."""


class GuardedChat:
    """A chat model that fails fast; any thread may call it."""

    def __init__(
        self, model: ChatModel, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._model = model
        self._monotonic = monotonic
        self._free = threading.BoundedSemaphore(MAX_AT_ONCE)
        self._lock = threading.Lock()
        self._failures = 0
        self._paused_until = float("-inf")

    @property
    def model_id(self) -> str:
        """Return the name of the model."""
        return self._model.model_id

    def complete(self, instructions: str, text: str) -> str:
        """Return the answer of the model.

        Raises:
            UnavailableError: there is none, or the model is busy or has failed too often.
        """
        if self._monotonic() < self._paused_until:
            raise UnavailableError("the language model is paused after repeated failures")
        if not self._free.acquire(blocking=False):
            raise UnavailableError("the language model is busy")
        try:
            answer = self._model.complete(instructions, without_secrets(text))
        except UnavailableError as error:
            self._note_failure(error)
            raise
        else:
            self._failures = 0
            return answer
        finally:
            self._free.release()

    def _note_failure(self, error: UnavailableError) -> None:
        log.warning("language model failed", extra={"reason": error.message})
        with self._lock:
            self._failures += 1
            if self._failures >= FAILURES:
                self._failures = 0
                self._paused_until = self._monotonic() + REST_S
