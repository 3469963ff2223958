"""The cross-encoder: scores how well a text answers a query by reading both together.

The user supplies the ONNX file: token ids in, one logit per pair out (or two: no and yes), with its
tokenizer in the same folder.
"""

import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qms.memory.errors import UnavailableError
from qms.models.choose import ChosenReranker
from qms.models.onnx_files import encodable, open_session, open_tokenizer

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

log = logging.getLogger(__name__)

PAIR_TOKENS = 512
"""The usual training length of cross-encoders; longer pairs are cut, the longer text first."""

BATCH_PAIRS = 8
MOST_SECONDS = 1.5
"""No new batch starts after this time: a search has to end, even with a large model."""

_CHARACTERS_A_TOKEN = 8
_REQUIRED = "input_ids"
_KNOWN_INPUTS = {_REQUIRED, "attention_mask", "token_type_ids"}


class CrossEncoder:
    """Scores pairs with an ONNX graph; thread-safe."""

    def __init__(
        self,
        session: Any,
        tokenizer: "Tokenizer",
        *,
        model_id: str,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._session = session
        self._tokenizer = tokenizer
        self._inputs = {given.name for given in session.get_inputs()}
        self._monotonic = monotonic
        self.model_id = model_id
        tokenizer.enable_truncation(PAIR_TOKENS, strategy="longest_first")

    def score(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a logit for each text; NaN for the last ones when time ran out.

        Raises:
            UnavailableError: the model fails; the message says how.
        """
        scores = np.full(len(texts), np.nan, np.float32)
        ends = self._monotonic() + MOST_SECONDS
        for start in range(0, len(texts), BATCH_PAIRS):
            if self._monotonic() > ends:
                break
            batch = texts[start : start + BATCH_PAIRS]
            scores[start : start + len(batch)] = self._score_batch(query, batch)
        return scores

    def _score_batch(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        try:
            encodings = [self._encoded(query, text) for text in texts]
            answer = self._session.run(None, self._given(encodings))[0]
        except Exception as error:  # tokenizers raises Exception itself; none may end a search
            log.warning("reranker failed", exc_info=True)
            reason = f"{self.model_id} failed: {type(error).__name__}"
            raise UnavailableError(reason) from error
        return _logits(answer, len(texts))

    def _encoded(self, query: str, text: str) -> "Encoding":
        # One by one: encoding a batch would start threads on every core.
        longest = PAIR_TOKENS * _CHARACTERS_A_TOKEN
        return self._tokenizer.encode(encodable(query[:longest]), encodable(text[:longest]))

    def _given(self, encodings: Sequence["Encoding"]) -> dict[str, NDArray[np.int64]]:
        width = max(len(one.ids) for one in encodings)
        columns = {
            "input_ids": [one.ids for one in encodings],
            "attention_mask": [one.attention_mask for one in encodings],
            "token_type_ids": [one.type_ids for one in encodings],
        }
        return {
            name: np.array([row + [0] * (width - len(row)) for row in rows], np.int64)
            for name, rows in columns.items()
            if name in self._inputs
        }


def open_reranker(model: str, folders: Sequence[Path], *, threads: int = 0) -> ChosenReranker:
    """Open the configured cross-encoder, if any."""
    if not model:
        return ChosenReranker()
    path = next((folder / model for folder in folders if (folder / model).is_file()), None)
    name = Path(model).name
    if path is None:
        return ChosenReranker(reason=f"{name} is missing")
    tokenizer_path = _tokenizer_beside(path)
    if tokenizer_path is None:
        return ChosenReranker(reason=f"{name} has no tokenizer in its folder")
    try:
        opened = _open(path, tokenizer_path, threads)
        opened.score("warm", ["up"])
    except Exception as error:  # tokenizers raises Exception itself; none may stop the server
        log.warning("reranker failed to open", exc_info=True)
        return ChosenReranker(reason=f"{name} cannot be used: {_described(error)}")
    log.info("reranker opened", extra={"model": name})
    return ChosenReranker(reranker=opened)


def _open(path: Path, tokenizer_path: Path, threads: int) -> CrossEncoder:
    session = open_session(path, threads=threads)
    inputs = {given.name for given in session.get_inputs()}
    if _REQUIRED not in inputs or not inputs <= _KNOWN_INPUTS:
        raise ValueError(f"its inputs are {', '.join(sorted(inputs))}")
    return CrossEncoder(session, open_tokenizer(tokenizer_path), model_id=path.name)


def _tokenizer_beside(path: Path) -> Path | None:
    own = path.with_suffix(".tokenizer.json")
    return next((one for one in (own, path.parent / "tokenizer.json") if one.is_file()), None)


def _logits(answer: Any, pairs: int) -> NDArray[np.float32]:
    """Return one finite number per pair; of two columns the second is yes."""
    table = np.asarray(answer, np.float32).reshape(pairs, -1) if np.size(answer) else None
    if table is None or table.shape[1] > 2 or not np.isfinite(table).all():
        raise UnavailableError("the reranker did not return one logit for each pair")
    found: NDArray[np.float32] = table[:, -1] - table[:, 0] if table.shape[1] == 2 else table[:, 0]
    return found


def _described(error: Exception) -> str:
    own = isinstance(error, ValueError | UnavailableError)
    return str(error) if own else type(error).__name__
