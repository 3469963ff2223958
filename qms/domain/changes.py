"""A ChangeSet: every mutation, whoever asked for it, as one value.

It is what the journal records, what the store applies, and what the audit log is written from.
"""

from datetime import datetime

import msgspec

HAND_EDIT = "handEdit"
"""The command of a ChangeSet that a person made in the file."""

TOUCH = "touch"
"""The command of a ChangeSet that follows from use: it makes no entry newer than it was."""


class Put(msgspec.Struct, frozen=True, tag="put", tag_field="op", rename="camel", gc=False):
    """An entry is created or replaced; `entry` is its line as it will stand in the file."""

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
    """What brings back everything that left together with it, where that was asked for."""


Change = Put | Remove


class ChangeSet(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Changes that become visible together, and who made them."""

    changes: tuple[Change, ...]
    command: str
    user: str
    at_utc: datetime
    agent_id: str | None = None
    key_id: str | None = None
