"""Contradictions by a language model: whether two memories cannot both be true."""

from pathlib import Path
from typing import Annotated

import msgspec

from qms.domain.errors import UnavailableError
from qms.domain.ports import ChatModel
from qms.inference.chat_answers import ask, is_plain

MAX_CHARACTERS = 6000
"""So much of each of the two is given to the model."""

_PROMPT = Path(__file__).with_name("contradict_by_model.prompt.md").read_text(encoding="utf-8")


class Verdict(msgspec.Struct, frozen=True):
    """What the model says of two memories, and why."""

    contradicts: bool
    why: Annotated[str, msgspec.Meta(max_length=500)] = ""


def judge_by_model(model: ChatModel, one: str, other: str) -> Verdict:
    """Return what a model says of two texts.

    Raises:
        UnavailableError: the model has no usable answer.
    """
    # As JSON, so that no text can pretend to be the end of the one and the begin of the other.
    both = msgspec.json.encode({"a": one[:MAX_CHARACTERS], "b": other[:MAX_CHARACTERS]}).decode()
    verdict = ask(model, _PROMPT, both, Verdict)
    if not is_plain(verdict.why):
        raise UnavailableError("the language model does not answer in the form asked for")
    return verdict
