"""Generated memories for search, with the word frequencies of real text and matching vectors.

A vector is the mean of its words' vectors, so that similar texts have similar vectors, without the
hours that a model would need for a million of them. The indexes of a root are built once, under the
name of the shipped model, and opened by each benchmark.
"""

import random
import zlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from qms.disk.disk import Disk
from qms.index.store_indexes import StoreIndexes
from qms.memory.bodies import Kind
from qms.memory.entry import SCHEMA_VERSION, Document
from qms.memory.ids import RANDOM_BYTES, make_local_id
from qms.memory.lines import encode_line
from qms.memory.ports import Embedder
from qms.memory.validation import instant_text, normalise
from qms.text.stop_words import STOP_WORDS
from tools.benchmarks.corpus import make_store, open_store

PROJECT = "default"
DIMENSION = 384
MODEL_NOTE = "model-id"
SEED = 20261116
_START = datetime(2026, 1, 1, tzinfo=UTC)
_VOCABULARY = 30_000
_SMALL_SHARE = 0.4
_TEXT_WORDS = (20, 70)
_TURNS = 20
_RELATED_SHARE = 0.1
_EMBEDDED_AT_ONCE = 2_000
_NOISE = 0.5


class Asked(msgspec.Struct, frozen=True):
    """A question: its text and vector."""

    text: str
    vector: list[float]


class Memories:
    """Generates entries and questions about them; the same for the same seed."""

    def __init__(self, seed: int = SEED) -> None:
        self._chance = random.Random(seed)
        self._content = list(dict.fromkeys(self._made_up_words()))
        self._content_odds = _zipf(len(self._content))
        self._small = sorted(STOP_WORDS["english"], key=lambda word: (len(word), word))
        self._small_odds = _zipf(len(self._small))

    def documents(self, count: int) -> Iterator[Document]:
        """Yield entries in their stored form; a fifth are turns of conversations."""
        ids: list[str] = []
        for number in range(count):
            at = _START + timedelta(seconds=31 * number)
            local_id = make_local_id(at, self._chance.randbytes(RANDOM_BYTES))
            document = self._document(f"{PROJECT}:{local_id}", number, at)
            if ids and self._chance.random() < _RELATED_SHARE:
                target = self._chance.choice(ids)
                document["relations"] = [{"type": "relatedTo", "targetId": target}]
            ids.append(document["id"])
            yield normalise(document)

    def questions(self, count: int, embedder: Embedder) -> list[Asked]:
        """Return questions of six to nine words, some of them stop words."""
        texts = [
            " ".join(
                (
                    *self._chance.choices(self._small, cum_weights=self._small_odds, k=3),
                    *self._chance.choices(
                        self._content,
                        cum_weights=self._content_odds,
                        k=self._chance.randint(3, 6),
                    ),
                )
            )
            for _ in range(count)
        ]
        return [
            Asked(text, vector.tolist())
            for text, vector in zip(texts, embedder.embed(texts), strict=True)
        ]

    def _document(self, entry_id: str, number: int, at: datetime) -> Document:
        chance = self._chance
        text = self._text(chance.randint(*_TEXT_WORDS))
        kind = (Kind.NOTE, Kind.FACT, Kind.DECISION, Kind.QUESTION, Kind.CONVERSATION_TURN)[
            number // _TURNS % 5
        ]
        main = {
            Kind.FACT: "statement",
            Kind.DECISION: "decision",
            Kind.CONVERSATION_TURN: "content",
        }
        body: dict[str, Any] = {main.get(kind, "text"): text}
        if kind is Kind.CONVERSATION_TURN:
            speaker = ("user", "assistant")[number % 2]
            body |= {"conversationId": f"talk-{number // _TURNS}", "role": speaker}
        return {
            "schemaVersion": SCHEMA_VERSION,
            "id": entry_id,
            "kind": kind.value,
            "title": self._text(6),
            "body": body,
            "tags": [f"tag{int(chance.paretovariate(0.7)) % 500}", f"part{number % 100}"],
            "timestamps": {"createdUtc": instant_text(at), "updatedUtc": instant_text(at)},
            "priority": 1 + number % 10,
            "confidence": round(chance.uniform(0.5, 1.0), 2),
            "agentId": chance.choice(("claude-code", "cursor", "codex")),
        }

    def _text(self, length: int) -> str:
        chance = self._chance
        small = round(length * _SMALL_SHARE)
        words = chance.choices(self._small, cum_weights=self._small_odds, k=small)
        words += chance.choices(self._content, cum_weights=self._content_odds, k=length - small)
        chance.shuffle(words)
        return " ".join(words)

    def _made_up_words(self) -> Iterator[str]:
        for _ in range(_VOCABULARY):
            yield "".join(
                self._chance.choice("bcdfghjklmnprstvwz")
                + self._chance.choice("aeiou")
                + self._chance.choice(("", "n", "r", "s", "t"))
                for _ in range(self._chance.randint(2, 4))
            )


class WordVectors:
    """An embedder whose vectors are the mean of random word vectors, plus noise.

    A text always has the same vector, so that results of an index can be checked against it.
    """

    def __init__(self, model_id: str, dimension: int) -> None:
        self.model_id = model_id
        self.dimension = dimension
        self._axes = _axes(dimension, np.random.default_rng(SEED))
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row of length 1 for each text."""
        middles = np.array([self._middle(text) for text in texts], np.float32)
        middles += _NOISE * np.array([self._drawn(text) for text in texts]) @ self._axes
        middles /= np.linalg.norm(middles, axis=1, keepdims=True)
        return middles

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a query."""
        vector: NDArray[np.float32] = self.embed([text])[0]
        return vector

    def pieces(self, text: str) -> list[str]:
        """Return the text as one piece."""
        return [text]

    def familiarity(self, text: str) -> float:  # noqa: ARG002 - every word has a vector here
        """Return that all words are known."""
        return 1.0

    def _middle(self, text: str) -> NDArray[np.float32]:
        words = [word for word in text.split() if len(word) > 4] or text.split()
        total = np.sum([self._vector(word) for word in words], axis=0)
        middle: NDArray[np.float32] = total / np.linalg.norm(total)
        return middle

    def _vector(self, word: str) -> NDArray[np.float32]:
        found = self._vectors.get(word)
        if found is None:
            found = self._drawn(f"word {word}") @ self._axes
            self._vectors[word] = found
        return found

    def _drawn(self, text: str) -> NDArray[np.float32]:
        """Return random numbers that are seeded by a text."""
        generator = np.random.default_rng((SEED, zlib.crc32(text.encode())))
        return generator.standard_normal(self.dimension, np.float32)


def make_root(root: Path, size: int, embedder: Embedder) -> None:
    """Make a root whose default project has this many entries and their indexes."""
    folder = root / "MemoryStores" / PROJECT
    make_store(folder, PROJECT, [encode_line(one) for one in Memories().documents(size)])
    store = open_store(folder, PROJECT)
    indexes = StoreIndexes(store, folder / "indexes", Disk())
    indexes.make(embedder)
    while indexes.embed(embedder, _EMBEDDED_AT_ONCE):
        pass
    store.close()
    indexes.close()
    (root / MODEL_NOTE).write_text(embedder.model_id, encoding="utf-8")


def _axes(dimension: int, chance: np.random.Generator) -> NDArray[np.float32]:
    """Return directions of decreasing weight, like a model's: half of the variance in 30 of 384."""
    turned, _ = np.linalg.qr(chance.standard_normal((dimension, dimension)))
    weights = (np.arange(dimension) + 4.0) ** -0.6
    axes: NDArray[np.float32] = (turned * (weights / np.linalg.norm(weights))[:, None]).astype(
        np.float32
    )
    return axes


def _zipf(count: int) -> list[float]:
    return list(accumulate(1 / (rank + 5) for rank in range(count)))
