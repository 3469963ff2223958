"""Cached query expansion by a language model, with a wait of at most 1 s.

A model takes seconds, a search milliseconds. The first search for a text waits for the model up to
1 s; a later answer is used by the next search for the same text. Without a model nothing is added:
words from the best entries were measured and did not help.
"""

import threading
from collections.abc import Callable

import msgspec

from qms.memory.errors import UnavailableError
from qms.memory.ports import ChatModel
from qms.models.choose import ChosenChat
from qms.models.expand import expand_by_model
from qms.text.terms import fold

WAIT_S = 1.0
"""How long a search waits for a model."""

MAX_ASKED = 2
"""How many requests to a model run at a time; other queries are not expanded."""

REMEMBERED = 1000
"""How many queries are cached."""

MAX_TERMS = 10


class Expansion(msgspec.Struct, frozen=True):
    """The terms for a query, or why there are none."""

    terms: tuple[str, ...] = ()
    reason: str | None = None


class _Asked:
    """A request to a model for one query."""

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
        """Return a model's terms for a query, if they arrive in time."""
        chosen = self._chat()
        if chosen.model is None:
            return Expansion(reason=chosen.reason)
        asked = self._ask(chosen.model, query)
        if asked is None:
            return Expansion(reason="the language model is busy")
        if not asked.is_done.wait(self._wait_s):
            return Expansion(reason="the language model is slow: its words are used next time")
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
                # A daemon thread: an endpoint that hangs must not block the end of the process.
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
