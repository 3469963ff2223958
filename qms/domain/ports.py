"""What the inside of the house asks of a model, whichever implementation stands behind it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:  # numpy's types only: the domain itself computes nothing with arrays
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """Turns text into vectors of one length, in which near means alike; safe to share by threads.

    Vectors of two embedders can be compared only when their `model_id` is the same.
    """

    @property
    def model_id(self) -> str:
        """Return the name under which vectors are kept; other content means another name."""

    @property
    def dimension(self) -> int:
        """Return how many numbers a vector has."""

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return one row of length 1 for each text; what is beyond the model's reach is cut off."""

    def embed_query(self, text: str) -> "NDArray[np.float32]":
        """Return the read-only vector of a query, remembered when it was asked for lately."""

    def pieces(self, text: str) -> list[str]:
        """Return the parts of a text that get a vector each; none when the text is blank."""

    def familiarity(self, text: str) -> float:
        """Return how many of a text's words the embedder knows, from 0 to 1.

        What a model of another language makes of a text says little about its meaning.
        """


class Reranker(Protocol):
    """Reads a query and a text together and says how well the text answers; safe to share."""

    @property
    def model_id(self) -> str:
        """Return the name that an explanation gives."""

    def score(self, query: str, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return a number for each text, above 0 for more likely than not (a logit).

        NaN stands for a text that there was no time for.

        Raises:
            UnavailableError: the model fails; the message says how.
        """


class Summarizer(Protocol):
    """Says in a few sentences what a text says; safe to share by threads."""

    @property
    def method(self) -> Literal["extractive", "llm"]:
        """Return how summaries are made, as answers name it."""

    def summarize(self, text: str) -> str:
        """Return a summary of a text that is not blank."""


class ChatModel(Protocol):
    """Writes an answer to a text; may be slow, wrong or away, and is never relied on."""

    @property
    def model_id(self) -> str:
        """Return the name under which answers are kept."""

    def complete(self, instructions: str, text: str) -> str:
        """Return what the model answers.

        Raises:
            UnavailableError: there is no answer; the message says why, without any text.
        """
