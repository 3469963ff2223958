"""ChangeSet: every mutation of a store as one value.

The journal records it, the store applies it, and the audit log is written from it.
"""

from datetime import datetime

import msgspec

HAND_EDIT = "handEdit"
"""The command of a ChangeSet that a person made in the file."""

TOUCH = "touch"
"""The command of a ChangeSet that follows from use: it does not make an entry newer."""


class Put(msgspec.Struct, frozen=True, tag="put", tag_field="op", rename="camel", gc=False):
    """An entry is created or replaced; `entry` is its line in the file."""

    id: str
    entry: msgspec.Raw
    version: str
    created: bool = False

    @property
    def line(self) -> bytes:
        """Return the entry's line without its newline."""
        return bytes(self.entry)


class Remove(
    msgspec.Struct,
    frozen=True,
    tag="remove",
    tag_field="op",
    rename="camel",
    omit_defaults=True,
    gc=False,
):
    """An entry leaves the store; `entry` is its last line, which goes to the archive if kept."""

    id: str
    entry: msgspec.Raw
    reason: str = "deleted"
    kept: bool = True
    undo_id: str | None = None
    """The id that restores everything removed together with it, if the caller asked for one."""


Change = Put | Remove


class ChangeSet(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Changes that become visible together, and who made them."""

    changes: tuple[Change, ...]
    command: str
    user: str
    at_utc: datetime
    agent_id: str | None = None
    key_id: str | None = None
    outdated: tuple[Change, ...] = ()
    """Entries that a hand-edited file shows in an older form than the store has: not applied, but
    part of the base of the next merge. Only the journal keeps them."""
