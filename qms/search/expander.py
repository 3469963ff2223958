"""Further words for searches from a language model: remembered, and never waited for long.

A model takes seconds, a search milliseconds. Whoever searches first for something waits for the
model a moment; an answer that comes later is there for the next one who asks. The plain rule of
this stage is to add nothing: words out of the best entries were measured, and did not help.
"""

import threading
from collections.abc import Callable

import msgspec

from qms.domain.errors import UnavailableError
from qms.domain.ports import ChatModel
from qms.index.terms import fold
from qms.inference.choose import ChosenChat
from qms.search.expand import expand_by_model

WAIT_S = 1.0
"""How long a search waits for the words of a model."""

MAX_ASKED = 2
"""So many queries wait for a model at a time; others are searched as they are."""

REMEMBERED = 1000
"""So many queries keep their words."""

MAX_TERMS = 10


class Expansion(msgspec.Struct, frozen=True):
    """The terms for a query, or why there are none."""

    terms: tuple[str, ...] = ()
    reason: str | None = None


class _Asked:
    """A query that a model was asked for."""

    def __init__(self) -> None:
        self.is_done = threading.Event()
        self.outcome = Expansion()


class Expander:
    """Asks the model in use for terms; any thread may call it."""

    def __init__(self, chat: Callable[[], ChosenChat], *, wait_s: float = WAIT_S) -> None:
        self._chat = chat
        self._wait_s = wait_s
        self._lock = threading.Lock()
        self._asked: dict[tuple[str, str], _Asked] = {}
        self._waiting = 0

    def __call__(self, query: str) -> Expansion:
        """Return the terms of a model for a query, if there are any by now."""
        chosen = self._chat()
        if chosen.model is None:
            return Expansion(reason=chosen.reason)
        asked = self._ask(chosen.model, query)
        if asked is None:
            return Expansion(reason="the language model is busy")
        if not asked.is_done.wait(self._wait_s):
            return Expansion(reason="the language model needs longer: its words serve next time")
        return asked.outcome

    def _ask(self, model: ChatModel, query: str) -> _Asked | None:
        key = (model.model_id, fold(query))
        with self._lock:
            asked = self._asked.pop(key, None)
            if asked is None:
                if self._waiting >= MAX_ASKED:
                    return None
                asked = _Asked()
                self._waiting += 1
                # A daemon: an endpoint that hangs must not keep the process from ending.
                arguments = (model, query, key, asked)
                threading.Thread(target=self._answer, args=arguments, daemon=True).start()
            self._asked[key] = asked
            if len(self._asked) > REMEMBERED:
                del self._asked[next(iter(self._asked))]
        return asked

    def _answer(self, model: ChatModel, query: str, key: tuple[str, str], asked: _Asked) -> None:
        asked.outcome = Expansion(reason="the language model failed")
        is_known = False
        try:
            asked.outcome = Expansion(tuple(expand_by_model(model, query, MAX_TERMS)))
            is_known = True
        except UnavailableError as error:
            asked.outcome = Expansion(reason=error.message)
        finally:
            with self._lock:
                self._waiting -= 1
                if not is_known:
                    self._asked.pop(key, None)
            asked.is_done.set()
