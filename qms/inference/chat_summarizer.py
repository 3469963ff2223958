"""Summaries by a language model."""

from pathlib import Path
from typing import Literal

from qms.domain.errors import UnavailableError
from qms.domain.ports import ChatModel
from qms.inference.chat_answers import is_plain

MAX_CHARACTERS = 1000
"""A longer answer is no summary."""

_PROMPT = Path(__file__).with_name("chat_summarizer.prompt.md").read_text(encoding="utf-8")


class ChatSummarizer:
    """Has a model say in a few sentences what a text says; safe to share by threads."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    @property
    def method(self) -> Literal["llm"]:
        """Return how it works."""
        return "llm"

    def summarize(self, text: str) -> str:
        """Return a summary of a text that is not blank.

        Raises:
            UnavailableError: the model has none that can be used.
        """
        summary = " ".join(self._model.complete(_PROMPT, text).split())
        if not 0 < len(summary) <= MAX_CHARACTERS or not is_plain(summary):
            raise UnavailableError("the language model's answer is no summary")
        return summary
