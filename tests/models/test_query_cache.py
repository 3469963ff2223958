import numpy as np
import pytest
from numpy.typing import NDArray

from qms.models.query_cache import remember


class Counting:
    """Embeds by length and counts how often it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, text: str) -> NDArray[np.float32]:
        self.asked.append(text)
        return np.array([len(text)], np.float32)


def test_a_repeated_query_is_embedded_once() -> None:
    embed = Counting()
    cached = remember(embed)

    assert cached("again") is cached("again")
    assert embed.asked == ["again"]


def test_only_the_latest_queries_are_kept() -> None:
    embed = Counting()
    cached = remember(embed, most=3)

    for text in ("a", "b", "c", "a", "d", "a", "b"):
        cached(text)

    assert embed.asked == ["a", "b", "c", "d", "b"]


def test_a_remembered_vector_cannot_be_changed() -> None:
    vector = remember(Counting())("a")

    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 7
