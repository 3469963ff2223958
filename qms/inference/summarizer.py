"""Extractive summaries: the sentences of a text that stand for most of the others.

LexRank over TF-IDF vectors says how central a sentence is, a prior prefers those of a readable
length, and maximal marginal relevance over embeddings keeps two that say the same from both being
taken. Nothing is written that does not stand in the text.
"""

import re
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from qms.domain.ports import Embedder

MAX_CHARACTERS = 400
MAX_SENTENCES = 3

_READ = 200
"""So many sentences are looked at, evenly taken from a longer text."""
_CANDIDATES = 8
"""So many of the most central ones are embedded: that is what a summary costs."""
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
    """Picks sentences; safe to share by threads."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def method(self) -> Literal["extractive"]:
        """Return how it works."""
        return "extractive"

    def summarize(self, text: str) -> str:
        """Return the sentences that tell most of a text, in its order."""
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
    """Return the sentences of a text, each once, without marks of lists and headings.

    A line that goes on in lower case was only wrapped; rows of tables are no sentences.
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
        else:  # a script without spaces: two signs at a time
            found += [word[place : place + 2] for place in range(max(1, len(word) - 1))]
    return found


def _centrality(sentences: list[str]) -> Matrix:
    """Return how central each sentence is: where a walk from sentence to sentence would be."""
    tokens = [_words(sentence) for sentence in sentences]
    columns = {word: n for n, word in enumerate(dict.fromkeys(w for one in tokens for w in one))}
    counts = np.zeros((len(sentences), len(columns)), np.float32)
    for row, found in enumerate(tokens):
        for word in found:
            counts[row, columns[word]] += 1
    weights = counts * np.log(1 + len(sentences) / np.count_nonzero(counts, axis=0))
    weights /= np.maximum(np.linalg.norm(weights, axis=1, keepdims=True), 1e-9)
    alike = weights @ weights.T
    np.fill_diagonal(alike, 0.0)  # a sentence does not speak for itself
    steps = alike / np.maximum(alike.sum(axis=1, keepdims=True), 1e-9)
    rank = np.full(len(sentences), 1 / len(sentences), np.float32)
    for _ in range(_ROUNDS):
        rank = (1 - _DAMPING) / len(sentences) + _DAMPING * (steps.T @ rank)
    return rank


def _readable(sentence: str) -> float:
    """Return how much a sentence's length speaks for it."""
    count = len(_words(sentence))
    if count < _SHORT_WORDS:
        return count / _SHORT_WORDS
    return min(1.0, _LONG_WORDS / count)


def _from_0_to_1(scores: Matrix) -> Matrix:
    low, high = float(scores.min()), float(scores.max())
    return (scores - low) / max(high - low, 1e-9)


def _spread(scores: Matrix, vectors: Matrix) -> list[int]:
    """Return candidates by what each adds to those before it."""
    chosen: list[int] = []
    left = list(range(len(scores)))
    while left:
        taken = vectors[chosen]

        def gain(place: int, taken: Matrix = taken) -> float:
            alike = float(np.max(taken @ vectors[place], initial=0.0))
            return _RELEVANCE * float(scores[place]) - (1 - _RELEVANCE) * alike

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
