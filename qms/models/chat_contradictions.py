"""Asks a language model whether two entries contradict each other."""

from pathlib import Path
from typing import Annotated

import msgspec

from qms.memory.errors import UnavailableError
from qms.memory.ports import ChatModel
from qms.models.chat_answers import ask, is_plain

MAX_CHARACTERS = 6000
"""At most this much of each text is sent to the model."""

_PROMPT = Path(__file__).with_name("chat_contradictions.prompt.md").read_text(encoding="utf-8")


class Verdict(msgspec.Struct, frozen=True):
    """The model's verdict on two entries, and the reason."""

    contradicts: bool
    why: Annotated[str, msgspec.Meta(max_length=500)] = ""


def judge_by_model(model: ChatModel, one: str, other: str) -> Verdict:
    """Return the verdict of a model on two texts.

    Raises:
        UnavailableError: the model has no usable answer.
    """
    # As JSON, so that no text can imitate the end of one and the beginning of the other.
    both = msgspec.json.encode({"a": one[:MAX_CHARACTERS], "b": other[:MAX_CHARACTERS]}).decode()
    verdict = ask(model, _PROMPT, both, Verdict)
    if not is_plain(verdict.why):
        raise UnavailableError("the language model did not answer in the requested form")
    return verdict
