"""The embedding model: turns texts into vectors with onnxruntime."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qms.models.model_manifest import Verified
from qms.models.onnx_files import encodable, open_session, open_tokenizer
from qms.models.pieces import PieceShape, Word, cut, is_surely_short
from qms.models.query_cache import remember

if TYPE_CHECKING:
    from tokenizers import Tokenizer

BATCH_TOKENS = 1500
"""Padding included. Measured: 1,024 to 2,048 is fastest; larger batches exceed the CPU cache."""

_SPECIAL_TOKENS = 2
_UNKNOWN = "[UNK]"
_LONGER = 3
"""Shorter words are in the vocabulary by chance: it has most pairs of letters."""
_INPUTS = {"input_ids", "attention_mask"}
_OUTPUT = "embedding"


class OnnxEmbedder:
    """Embeds with an ONNX graph from token ids and a mask to one vector per text."""

    def __init__(
        self,
        session: Any,
        tokenizer: "Tokenizer",
        *,
        model_id: str,
        dimension: int,
        max_tokens: int,
    ) -> None:
        self._session = session
        self._tokenizer = tokenizer
        self._model_id = model_id
        self._dimension = dimension
        self._max_tokens = max_tokens
        self._unknown = tokenizer.token_to_id(_UNKNOWN)
        longest = max_tokens - _SPECIAL_TOKENS
        self._shape = PieceShape(tokens=min(PieceShape().tokens, longest), longest=longest)
        self._embed_query = remember(lambda text: self.embed([text])[0])

    @property
    def model_id(self) -> str:
        """Return the name under which vectors are stored."""
        return self._model_id

    @property
    def dimension(self) -> int:
        """Return the dimension of the vectors."""
        return self._dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a vector of norm 1 for each text, in their order."""
        vectors = np.empty((len(texts), self._dimension), np.float32)
        rows = [self._token_ids(text) for text in texts]
        for batch in batches([len(row) for row in rows]):
            vectors[batch] = self._run([rows[number] for number in batch])
        return vectors

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the read-only vector of a query; recent ones are cached."""
        return self._embed_query(text)

    def pieces(self, text: str) -> list[str]:
        """Return the parts of a text that get a vector each; none when the text is blank."""
        if is_surely_short(text, self._shape):
            return [text.strip()] if text.strip() else []
        return cut(text, self._words(text), self._shape)

    def familiarity(self, text: str) -> float:
        """Return the share of a text's longer words that are whole words of the vocabulary.

        English questions have at least 0.8, those of other languages at most 0.5.
        """
        text = encodable(text)
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        tokens = zip(encoding.word_ids, encoding.offsets, encoding.ids, strict=True)
        words: list[tuple[str, bool]] = []
        for _, group in groupby(tokens, key=lambda token: token[0]):
            found = list(group)
            word = text[found[0][1][0] : found[-1][1][1]]
            if any(map(str.isalpha, word)):
                is_one = len(found) == 1 and found[0][2] != self._unknown
                words.append((word, is_one and not _is_sign(word)))
        longer = [is_known for word, is_known in words if len(word) >= _LONGER]
        known = longer or [is_known for _, is_known in words]
        return sum(known) / len(known) if known else 1.0

    def _token_ids(self, text: str) -> list[int]:
        # One by one: encoding a batch would start threads on every core.
        ids = self._tokenizer.encode(encodable(text)).ids
        return ids if len(ids) <= self._max_tokens else [*ids[: self._max_tokens - 1], ids[-1]]

    def _words(self, text: str) -> list[Word]:
        encoding = self._tokenizer.encode(encodable(text), add_special_tokens=False)
        tokens = zip(encoding.word_ids, encoding.offsets, strict=True)
        words = []
        for _, group in groupby(tokens, key=lambda token: token[0]):
            offsets = [offset for _, offset in group]
            words.append(Word(offsets[0][0], offsets[-1][1], len(offsets)))
        return words

    def _run(self, rows: list[list[int]]) -> NDArray[np.float32]:
        width = max(len(row) for row in rows)
        ids = np.zeros((len(rows), width), np.int64)
        mask = np.zeros((len(rows), width), np.int64)
        for number, row in enumerate(rows):
            ids[number, : len(row)] = row
            mask[number, : len(row)] = 1
        given = {"input_ids": ids, "attention_mask": mask}
        vectors: NDArray[np.float32] = self._session.run([_OUTPUT], given)[0]
        # The shipped graph does this itself; a graph of a user may not.
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return vectors


def _is_sign(word: str) -> bool:
    """Say whether a word is one character of a script without spaces: alone it means nothing."""
    return len(word) == 1 and not word.isascii()


def batches(lengths: Sequence[int], budget: int = BATCH_TOKENS) -> Iterator[list[int]]:
    """Yield indexes of texts in batches of similar length, each within the budget of tokens."""
    batch: list[int] = []
    for number in sorted(range(len(lengths)), key=lengths.__getitem__):
        # Sorted by length: the newest is the widest.
        if batch and (len(batch) + 1) * lengths[number] > budget:
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch


def open_onnx_embedder(model: Verified, *, threads: int = 0) -> OnnxEmbedder:
    """Load a verified model; 0 threads means one per core.

    Raises:
        ValueError: the graph is not an embedding model of the manifest's dimension.
    """
    embedder = OnnxEmbedder(
        _checked(open_session(model.model_path, threads=threads)),
        open_tokenizer(model.tokenizer_path),
        model_id=model.model_id,
        dimension=model.manifest.dimension,
        max_tokens=model.manifest.max_tokens,
    )
    if not np.isclose(np.linalg.norm(embedder.embed(["warm up"])), 1, atol=1e-3):
        raise ValueError("the model does not return usable vectors")
    return embedder


def _checked(session: Any) -> Any:
    if {given.name for given in session.get_inputs()} != _INPUTS:
        raise ValueError(f"the model's inputs are not {', '.join(sorted(_INPUTS))}")
    if _OUTPUT not in {answer.name for answer in session.get_outputs()}:
        raise ValueError(f"the model has no output {_OUTPUT}")
    return session
