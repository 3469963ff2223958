"""Extracts the statements of a conversation with a language model."""

from pathlib import Path
from typing import Annotated

import msgspec

from qms.features.mining.statements import LONGEST, Rule, Statement
from qms.memory.ports import ChatModel
from qms.models.chat_answers import ask, is_plain

_PROMPT = Path(__file__).with_name("by_model.prompt.md").read_text(encoding="utf-8")
_CONFIDENCE = 0.7


class _Memory(msgspec.Struct):
    rule: Rule
    text: Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST)]


class _Memories(msgspec.Struct):
    memories: list[_Memory]


def statements_by_model(model: ChatModel, text: str, limit: int) -> list[Statement]:
    """Return the statements that a model finds in a text.

    Raises:
        UnavailableError: the model has no usable answer.
    """
    found = ask(model, _PROMPT, text, _Memories).memories
    texts = {" ".join(one.text.split()): one.rule for one in found if is_plain(one.text)}
    return [Statement(rule, text, _CONFIDENCE) for text, rule in texts.items()][:limit]
