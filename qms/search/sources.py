"""What a search reads of one store: a view of its entries and the indexes that follow it."""

from collections.abc import Collection, Mapping

import msgspec

from qms.index.columns import Columns
from qms.index.keyword import KeywordIndex
from qms.index.vector import VectorIndex
from qms.store.view import StoreView


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """One store to search; columns and vectors share their slots."""

    view: StoreView
    columns: Columns
    keyword: KeywordIndex
    vectors: VectorIndex | None = None
    superseded: Collection[str] = ()
    """Entries that another one has replaced: out of default results."""
    usage: Mapping[str, int] = {}
    """How often entries were read; an entry that is not in it was never read."""

    @property
    def project(self) -> str:
        """The project whose store this is."""
        return self.view.project
