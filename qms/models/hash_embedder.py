"""The embedder without a model: hashes words and their n-grams into a vector.

It matches spelling, not meaning. The same text gives the same vector in every process and on every
platform; a change of its arithmetic needs a new `MODEL_ID`.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from qms.memory.texts import with_few_marks
from qms.models.pieces import PieceShape, Word, cut, is_surely_short
from qms.models.query_cache import remember

MODEL_ID = "hash-v1"
DIMENSION = 384
PAIR_WEIGHT = 0.5
"""A word and each of its n-grams weigh 1, so that a long word weighs more than "the"."""

PART_LENGTHS = (3, 4)
CACHED_WORDS = 20_000

# Chinese and Japanese have no space between words: a character is a word, and pairs give context.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|\w{1,64}")
_SIGNS = re.compile(r"\S{1,64}")
_RUN = re.compile(r"\S{1,40}")
_BYTES_A_TOKEN = 4
_SHAPE = PieceShape()

_FEATURE = np.dtype("<u2")
"""Twice the index of a feature, plus one when its sign is positive."""


class HashEmbedder:
    """Embeds by hashing words, pairs of words and n-grams of words."""

    def __init__(self) -> None:
        self._embed_query = remember(_embed_one)

    @property
    def model_id(self) -> str:
        """Return the name under which vectors are stored."""
        return MODEL_ID

    @property
    def dimension(self) -> int:
        """Return the dimension of the vectors."""
        return DIMENSION

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a vector of norm 1 for each text; a blank text gives zeros."""
        vectors = np.zeros((len(texts), DIMENSION), np.float32)
        for number, text in enumerate(texts):
            vectors[number] = _embed_one(text)
        return vectors

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the read-only vector of a query; recent ones are cached."""
        return self._embed_query(text)

    def pieces(self, text: str) -> list[str]:
        """Return the parts of a text that get a vector each; none when the text is blank."""
        if is_surely_short(text, _SHAPE):
            return [text.strip()] if text.strip() else []
        return cut(text, list(_estimated_words(text)), _SHAPE)

    def familiarity(self, text: str) -> float:  # noqa: ARG002 - spelling needs no vocabulary
        """Return 1: hashing needs no vocabulary."""
        return 1.0


def _estimated_words(text: str) -> Iterator[Word]:
    for run in _RUN.finditer(text):
        size_bytes = len(run[0].encode(errors="replace"))
        yield Word(run.start(), run.end(), -(-size_bytes // _BYTES_A_TOKEN))


def _embed_one(text: str) -> NDArray[np.float32]:
    folded = unicodedata.normalize("NFKC", with_few_marks(text)).casefold()
    words = _WORD.findall(folded) or _SIGNS.findall(folded)
    sums = _summed(map(_word_features, words))
    sums += PAIR_WEIGHT * _summed(_feature(f"{one} {other}") for one, other in pairwise(words))
    # Twice as often is not twice as important.
    sums = np.sign(sums) * np.sqrt(np.abs(sums))
    length = np.sqrt(np.sum(sums * sums))
    return (sums / length if length else sums).astype(np.float32)


def _summed(features: Iterable[bytes]) -> NDArray[np.float64]:
    """Return the sum of the signs of the features at each index."""
    found = np.frombuffer(b"".join(features), _FEATURE)
    counts = np.bincount(found, minlength=2 * DIMENSION).reshape(DIMENSION, 2)
    return (counts[:, 1] - counts[:, 0]).astype(np.float64)


@lru_cache(maxsize=CACHED_WORDS)
def _word_features(word: str) -> bytes:
    marked = f"<{word}>"
    parts = {
        marked[start : start + length]
        for length in PART_LENGTHS
        for start in range(len(marked) - length + 1)
    }
    # The prefix `#` keeps an n-gram from being taken for a word.
    return b"".join((_feature(word), *(_feature(f"#{part}") for part in sorted(parts))))


def _feature(name: str) -> bytes:
    """Return the index and the sign of a feature; half of the features are negative."""
    digest = hashlib.blake2b(name.encode(errors="replace"), digest_size=8).digest()
    number = int.from_bytes(digest, "little")
    return (2 * ((number >> 1) % DIMENSION) + (number & 1)).to_bytes(_FEATURE.itemsize, "little")
