"""The models that a search uses, as one value."""

from collections.abc import Callable

import msgspec

from qms.memory.ports import Embedder, Reranker
from qms.models.expander import Expansion


class Models(msgspec.Struct, frozen=True, kw_only=True):
    """The models in use; without any, only the keyword index is used."""

    embedder: Embedder | None = None
    is_hash: bool = False
    reranker: Reranker | None = None
    reranker_problem: str | None = None
    """Why the configured reranker is not in use."""
    expand: Callable[[str], Expansion] | None = None
    """Asks a language model for expansion terms."""
