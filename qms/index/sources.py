"""The input of a search from one store: a view of its entries and its indexes."""

from collections.abc import Collection, Mapping

import msgspec

from qms.index.columns.columns import Columns
from qms.index.vectors.vector_index import VectorIndex
from qms.index.words.keyword_index import KeywordIndex
from qms.store.options import VectorStatus
from qms.store.view import StoreView


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """One store to search; columns and vectors share their slots."""

    view: StoreView
    columns: Columns
    keyword: KeywordIndex
    vectors: VectorIndex | None = None
    superseded: Collection[str] = ()
    """Superseded entries, which default results leave out."""
    usage: Mapping[str, int] = {}
    """How often entries were read; entries that were never read are missing."""
    vector_status: VectorStatus | None = None
    """How many entries have vectors; None when it is not known."""

    @property
    def project(self) -> str:
        """The project whose store this is."""
        return self.view.project
