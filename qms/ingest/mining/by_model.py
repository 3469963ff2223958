"""Statements by a language model: what a conversation says that is worth keeping."""

from pathlib import Path
from typing import Annotated

import msgspec

from qms.domain.ports import ChatModel
from qms.inference.chat_answers import ask, is_plain
from qms.ingest.mining.statements import LONGEST, Rule, Statement

_PROMPT = Path(__file__).with_name("by_model.prompt.md").read_text(encoding="utf-8")
_CONFIDENCE = 0.7


class _Said(msgspec.Struct):
    rule: Rule
    text: Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST)]


class _Memories(msgspec.Struct):
    memories: list[_Said]


def statements_by_model(model: ChatModel, text: str, limit: int) -> list[Statement]:
    """Return what a model finds worth keeping in what people said.

    Raises:
        UnavailableError: the model has no usable answer.
    """
    found = ask(model, _PROMPT, text, _Memories).memories
    texts = {" ".join(one.text.split()): one.rule for one in found if is_plain(one.text)}
    return [Statement(rule, text, _CONFIDENCE) for text, rule in texts.items()][:limit]
