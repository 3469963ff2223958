"""What one ChangeSet means to the keyword index."""

import msgspec

from qms.index.documents import IndexDocument


class Change(msgspec.Struct, frozen=True):
    """The entries that a ChangeSet put, as they are indexed, and those that it removed."""

    sequence: int
    put: tuple[IndexDocument, ...] = ()
    removed: tuple[str, ...] = ()
