"""Extractive summaries: selects the most central sentences of a text.

LexRank over TF-IDF vectors gives the centrality of a sentence, a prior prefers a readable length,
and maximal marginal relevance over embeddings avoids two sentences that say the same. A summary has
only sentences of the text.
"""

import re
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from qms.memory.ports import Embedder

MAX_CHARACTERS = 400
MAX_SENTENCES = 3

_READ = 200
"""At most this many sentences are ranked, sampled evenly from a longer text."""
_CANDIDATES = 8
"""At most this many of the most central ones are embedded, which is the main cost."""
_DAMPING = 0.85
_ROUNDS = 40
_RELEVANCE = 0.7
_SHORT_WORDS, _LONG_WORDS = 6, 35
_ENDS = re.compile(r"(?<=[.!?…])[\"')\]]*\s+|(?<=[。！？])|\n+")
_WRAP = re.compile(r"\n(?=(\w))")
_BULLET = re.compile(r"^[-*+#>]+\s+")
_WORD = re.compile(r"\w+")
_FIRST_WIDE = "\u2e80"

Matrix = NDArray[np.float32]


class ExtractiveSummarizer:
    """Selects sentences; thread-safe."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def method(self) -> Literal["extractive"]:
        """Return the name of the method."""
        return "extractive"

    def summarize(self, text: str) -> str:
        """Return the most central sentences of a text, in its order."""
        sentences = split_sentences(text)
        if len(sentences) <= 1:
            return shorten(text)
        step = -(-len(sentences) // _READ)
        sentences = sentences[::step]
        scores = _centrality(sentences) * np.array([_readable(one) for one in sentences])
        best = np.argsort(-scores, kind="stable")[:_CANDIDATES]
        vectors = self._embedder.embed([sentences[place] for place in best])
        order = _spread(_from_0_to_1(scores[best]), vectors)
        return _joined(sentences, [int(best[place]) for place in order])


def split_sentences(text: str) -> list[str]:
    """Return the distinct sentences of a text, without list and heading markers.

    A line break before a lower-case letter is a soft wrap; table rows are left out.
    """
    unwrapped = _WRAP.sub(lambda found: " " if found[1].islower() else "\n", text)
    lines = (line for line in unwrapped.split("\n") if not line.startswith("|"))
    parts = (_BULLET.sub("", part.strip()) for part in _ENDS.split("\n".join(lines)))
    return list(dict.fromkeys(part for part in parts if part and _WORD.search(part)))


def shorten(text: str) -> str:
    """Return the beginning of a text, cut between words."""
    whole = " ".join(text.split())
    if len(whole) <= MAX_CHARACTERS:
        return whole
    cut = whole[: MAX_CHARACTERS - 1]
    return (cut.rpartition(" ")[0] or cut).rstrip() + "…"


def _words(sentence: str) -> list[str]:
    found: list[str] = []
    for word in _WORD.findall(sentence.casefold()):
        if max(word) < _FIRST_WIDE:
            found.append(word)
        else:  # a script without spaces: pairs of characters
            found += [word[place : place + 2] for place in range(max(1, len(word) - 1))]
    return found


def _centrality(sentences: list[str]) -> Matrix:
    """Return the centrality of each sentence: its PageRank in the graph of similarities."""
    tokens = [_words(sentence) for sentence in sentences]
    columns = {word: n for n, word in enumerate(dict.fromkeys(w for one in tokens for w in one))}
    counts = np.zeros((len(sentences), len(columns)), np.float32)
    for row, found in enumerate(tokens):
        for word in found:
            counts[row, columns[word]] += 1
    weights = counts * np.log(1 + len(sentences) / np.count_nonzero(counts, axis=0))
    weights /= np.maximum(np.linalg.norm(weights, axis=1, keepdims=True), 1e-9)
    similarity = weights @ weights.T
    np.fill_diagonal(similarity, 0.0)  # a sentence does not vote for itself
    steps = similarity / np.maximum(similarity.sum(axis=1, keepdims=True), 1e-9)
    rank = np.full(len(sentences), 1 / len(sentences), np.float32)
    for _ in range(_ROUNDS):
        rank = (1 - _DAMPING) / len(sentences) + _DAMPING * (steps.T @ rank)
    return rank


def _readable(sentence: str) -> float:
    """Return the prior of a sentence by its length, from 0 to 1."""
    count = len(_words(sentence))
    if count < _SHORT_WORDS:
        return count / _SHORT_WORDS
    return min(1.0, _LONG_WORDS / count)


def _from_0_to_1(scores: Matrix) -> Matrix:
    low, high = float(scores.min()), float(scores.max())
    return (scores - low) / max(high - low, 1e-9)


def _spread(scores: Matrix, vectors: Matrix) -> list[int]:
    """Return the candidates in the order of their marginal relevance."""
    chosen: list[int] = []
    left = list(range(len(scores)))
    while left:
        taken = vectors[chosen]

        def gain(place: int, taken: Matrix = taken) -> float:
            similarity = float(np.max(taken @ vectors[place], initial=0.0))
            return _RELEVANCE * float(scores[place]) - (1 - _RELEVANCE) * similarity

        chosen.append(max(left, key=gain))
        left.remove(chosen[-1])
    return chosen


def _joined(sentences: list[str], order: list[int]) -> str:
    kept: list[int] = []
    length = 0
    for place in order:
        size = len(sentences[place]) + 1
        if len(kept) < MAX_SENTENCES and length + size <= MAX_CHARACTERS:
            kept.append(place)
            length += size
    if not kept:
        return shorten(sentences[order[0]])
    return " ".join(sentences[place] for place in sorted(kept))
