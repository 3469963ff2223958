"""Protocols of the models: embedder, reranker, summarizer and chat model."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:  # numpy's types only: this package does not compute with arrays
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """Turns texts into vectors of one dimension, near for similar texts; thread-safe.

    Vectors of two embedders can be compared only when their `model_id` is the same.
    """

    @property
    def model_id(self) -> str:
        """Return the name under which vectors are stored; another model has another name."""

    @property
    def dimension(self) -> int:
        """Return the dimension of the vectors."""

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return a vector of norm 1 for each text; text beyond the model's input is cut off."""

    def embed_query(self, text: str) -> "NDArray[np.float32]":
        """Return the read-only vector of a query; recent ones are cached."""

    def pieces(self, text: str) -> list[str]:
        """Return the parts of a text that get a vector each; none when the text is blank."""

    def familiarity(self, text: str) -> float:
        """Return the share of a text's words that the embedder knows, from 0 to 1.

        The vector of a text in an unknown language says little about its meaning.
        """


class Reranker(Protocol):
    """Scores how well a text answers a query by reading both together; thread-safe."""

    @property
    def model_id(self) -> str:
        """Return the name that explanations show."""

    def score(self, query: str, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return a number for each text, above 0 for more likely than not (a logit).

        NaN marks a text that was not scored in time.

        Raises:
            UnavailableError: the model fails; the message says how.
        """


class Summarizer(Protocol):
    """Summarizes a text in a few sentences; thread-safe."""

    @property
    def method(self) -> Literal["extractive", "llm"]:
        """Return how summaries are made, as answers name it."""

    def summarize(self, text: str) -> str:
        """Return a summary of a text that is not blank."""


class ChatModel(Protocol):
    """Answers a text; may be slow, wrong or unavailable, so every caller has a fallback."""

    @property
    def model_id(self) -> str:
        """Return the name under which answers are kept."""

    def complete(self, instructions: str, text: str) -> str:
        """Return what the model answers.

        Raises:
            UnavailableError: there is no answer; the message says why, without any text.
        """
