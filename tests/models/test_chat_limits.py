import threading

import pytest

from qms.memory.errors import UnavailableError
from qms.models.chat_limits import FAILURES, MAX_AT_ONCE, REST_S, GuardedChat
from tests.support.secrets_made_up import MADE_UP
from tests.support.waiting import BOUND_S

SECRET = MADE_UP["a GitHub token"]


class Script:
    """A model that answers as it is told."""

    model_id = "scripted"

    def __init__(self) -> None:
        self.fails = False
        self.asked: list[str] = []

    def complete(self, instructions: str, text: str) -> str:
        self.asked.append(text)
        if self.fails:
            raise UnavailableError("no")
        return f"{instructions}: {text}"


def fails(chat: GuardedChat) -> str:
    with pytest.raises(UnavailableError) as refused:
        chat.complete("", "hi")
    return refused.value.message


def test_a_good_answer_goes_through() -> None:
    chat = GuardedChat(Script())

    assert chat.complete("do", "it") == "do: it"
    assert chat.model_id == "scripted"


def test_after_failures_the_model_is_left_alone_for_a_while() -> None:
    model, now = Script(), [0.0]
    chat = GuardedChat(model, monotonic=lambda: now[0])
    model.fails = True

    for _ in range(FAILURES):
        assert fails(chat) == "no"
    assert "paused" in fails(chat)
    assert len(model.asked) == FAILURES
    now[0] = REST_S
    model.fails = False

    assert chat.complete("a", "b") == "a: b"


def test_a_good_answer_between_failures_forgives_them() -> None:
    model = Script()
    chat = GuardedChat(model)
    for _ in range(FAILURES * 2):
        model.fails = True
        assert fails(chat) == "no"
        model.fails = False
        chat.complete("", "hi")


def test_no_more_than_a_few_wait_at_a_time() -> None:
    entered, leave = threading.Semaphore(0), threading.Event()

    class Slow(Script):
        def complete(self, instructions: str, text: str) -> str:
            entered.release()
            leave.wait(BOUND_S)
            return text

    chat = GuardedChat(Slow())
    waiting = [threading.Thread(target=chat.complete, args=("", "x")) for _ in range(MAX_AT_ONCE)]
    for thread in waiting:
        thread.start()
    for _ in waiting:
        assert entered.acquire(timeout=BOUND_S)

    assert "busy" in fails(chat)
    leave.set()
    for thread in waiting:
        thread.join()
    assert chat.complete("", "now") == "now"


def test_secrets_are_not_sent() -> None:
    model = Script()

    GuardedChat(model).complete("", f"the key is {SECRET} for now")

    assert SECRET not in model.asked[0]
    assert "for now" in model.asked[0]
