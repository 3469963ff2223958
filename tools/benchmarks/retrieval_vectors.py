"""Caches the vectors of a set's texts in a folder, since a model takes minutes to compute them."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from qms.memory.ports import Embedder

Vectors = NDArray[np.float32]


class KeptVectors:
    """Embeds texts and queries, using cached vectors first."""

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        self.embedder = embedder
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def of_texts(self, texts: Sequence[str]) -> list[Vectors]:
        """Return the vectors of the pieces of each text."""
        path = self._path("pieces", texts)
        if not path.exists():
            pieces = [self.embedder.pieces(text) for text in texts]
            flat = self.embedder.embed([piece for found in pieces for piece in found])
            np.savez(path, vectors=flat, counts=np.array([len(found) for found in pieces]))
        with np.load(path) as kept:
            ends = np.cumsum(kept["counts"])
            return np.split(kept["vectors"], ends[:-1])

    def of_queries(self, texts: Sequence[str]) -> dict[str, Vectors]:
        """Return the vector of each query."""
        path = self._path("queries", texts)
        if not path.exists():
            np.savez(path, vectors=self.embedder.embed(texts))
        with np.load(path) as kept:
            return dict(zip(texts, kept["vectors"], strict=True))

    def _path(self, what: str, texts: Sequence[str]) -> Path:
        mark = hashlib.sha256(self.embedder.model_id.encode())
        for text in texts:
            mark.update(hashlib.sha256(text.encode()).digest())
        return self._folder / f"{what}-{mark.hexdigest()[:32]}.npz"
