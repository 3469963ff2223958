"""What stands between the house and a language model: few at a time, and a rest after failures.

Without it, an endpoint that hangs would keep every worker waiting until its timeout, one request
after the other. Secrets are taken out of what is sent.
"""

import logging
import threading
import time
from collections.abc import Callable

from qms.domain.errors import UnavailableError
from qms.domain.leaks import without_secrets
from qms.domain.ports import ChatModel

log = logging.getLogger(__name__)

MAX_AT_ONCE = 2
"""So many requests wait for a model at a time; the next is told so at once."""

FAILURES = 2
REST_S = 60.0
"""After so many failures in a row the model is left alone so long."""


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
        self._rests_until = float("-inf")

    @property
    def model_id(self) -> str:
        """Return the name of the model."""
        return self._model.model_id

    def complete(self, instructions: str, text: str) -> str:
        """Return what the model answers.

        Raises:
            UnavailableError: it does not, or is not asked: it is busy, or has failed too often.
        """
        if self._monotonic() < self._rests_until:
            raise UnavailableError("the language model has failed lately and is left alone")
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
                self._rests_until = self._monotonic() + REST_S
