"""Summarizes texts with a language model."""

from pathlib import Path
from typing import Literal

from qms.memory.errors import UnavailableError
from qms.memory.ports import ChatModel
from qms.models.chat_answers import is_plain

MAX_CHARACTERS = 1000
"""A longer answer is not a summary."""

_PROMPT = Path(__file__).with_name("chat_summarizer.prompt.md").read_text(encoding="utf-8")


class ChatSummarizer:
    """Summarizes with a chat model; thread-safe."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    @property
    def method(self) -> Literal["llm"]:
        """Return the name of the method."""
        return "llm"

    def summarize(self, text: str) -> str:
        """Return a summary of a text that is not blank.

        Raises:
            UnavailableError: the model gives no usable summary.
        """
        summary = " ".join(self._model.complete(_PROMPT, text).split())
        if not 0 < len(summary) <= MAX_CHARACTERS or not is_plain(summary):
            raise UnavailableError("the answer of the language model is not a summary")
        return summary
