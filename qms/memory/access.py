"""Access tiers and the rights table: who may do what to which entry."""

from enum import IntEnum, StrEnum
from typing import Any

import msgspec

from qms.memory.entry import CurationTier, Header
from qms.memory.errors import ConflictError, NotAllowedError


class AccessTier(IntEnum):
    """What a caller may do in a project; each tier includes the ones below it."""

    NONE = 0
    READER = 1
    WRITER = 2
    CURATOR = 3
    ADMIN = 4

    @property
    def label(self) -> str:
        """Return the name used in the TOML and in answers."""
        return self.name.lower()

    @classmethod
    def from_label(cls, label: str) -> "AccessTier":
        """Return the tier called `label`.

        Raises:
            KeyError: no tier has that name.
        """
        return cls[label.upper()] if label == label.lower() else cls[label]


class SystemRight(StrEnum):
    """The rights under which the server changes entries by itself; no caller has one."""

    EXPIRY = "expiry"
    USE = "use"
    HAND_EDIT = "handEdit"


Right = AccessTier | SystemRight
"""The right under which a change is made: the tier of a caller, or a right of the server."""


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """The user behind a request, and the user's tier in the project of the request."""

    user: str
    access: AccessTier
    key_id: str | None = None
    agent_id: str | None = None


LOCAL_USER = "local"
"""The user name of the machine's owner, who has no key in the configuration."""

LOCAL_ACCESS = AccessTier.WRITER
"""The tier of an agent that the owner started, unless the configuration names the user."""

LOCAL_ADMIN = Caller(user=LOCAL_USER, access=AccessTier.ADMIN)
"""The caller of commands on the files of a stopped server: the owner of the machine."""

SYSTEM_USER = "system"
"""The user that the audit log names for changes that no caller asked for."""

HAND_EDIT_USER = "hand-edit"
"""The user of changes in `entries.jsonl`: a person who can write the file may change any entry."""

AUDIT_USERS = frozenset({LOCAL_USER, SYSTEM_USER, HAND_EDIT_USER})
"""Names that the audit log reserves: a configured user of that name would be ambiguous."""

_EDIT_TIER = {
    CurationTier.PROVISIONAL: AccessTier.WRITER,
    CurationTier.CURATED: AccessTier.CURATOR,
    CurationTier.CANONICAL: AccessTier.ADMIN,
}

_FIELD_TIER = {
    "curationTier": AccessTier.CURATOR,
    "pinned": AccessTier.CURATOR,
    "isPermanent": AccessTier.ADMIN,
}

GUARDED_FIELDS: tuple[str, ...] = tuple(_FIELD_TIER)
"""Fields that a full replacement keeps as they are when its caller may not set them."""


FORCE_HINT = "pass force to delete it"
"""How a permanent entry is deleted; tools without that argument replace these words."""


def tier_to_edit(header: Header) -> AccessTier:
    """Return the least tier that may edit or delete this entry."""
    return AccessTier.ADMIN if header.is_permanent else _EDIT_TIER[header.curation_tier]


def may_edit(right: Right, header: Header) -> bool:
    """Say whether the entry may be edited under this right."""
    return isinstance(right, SystemRight) or right >= tier_to_edit(header)


def may_set(access: AccessTier, field: str) -> bool:
    """Say whether a caller with this tier may change this field of an entry."""
    return access >= _FIELD_TIER.get(field, AccessTier.WRITER)


def check_put(right: Right, before: Header | None, after: Header) -> None:
    """Raise `NotAllowedError` when a new entry, or this edit of one, needs a higher tier.

    The error names the guarded field that the tier may not set.
    """
    if isinstance(right, SystemRight):
        return
    if before is None:
        _check_tier(right, AccessTier.WRITER, "create entries")
    else:
        _check_tier(right, tier_to_edit(before), f"edit {_describe(before)}")
    _check_fields(right, before, after)


def check_delete(right: Right, before: Header, *, force: bool) -> None:
    """Raise when the entry may not be deleted under this right, or not without `force`."""
    if isinstance(right, SystemRight):
        return
    _check_tier(right, tier_to_edit(before), f"delete {_describe(before)}")
    if before.is_permanent and not force:
        raise ConflictError(
            f"entry {before.id} is permanent: {FORCE_HINT}", id=before.id, field="force"
        )


def _check_tier(access: AccessTier, least: AccessTier, action: str) -> None:
    if access < least:
        raise NotAllowedError(
            f"tier {access.label} may not {action}: tier {least.label} is needed",
            needs=least.label,
            has=access.label,
        )


def _check_fields(access: AccessTier, before: Header | None, after: Header) -> None:
    for field, least in _FIELD_TIER.items():
        if access < least and _guarded(after, field) != _guarded(before, field):
            raise NotAllowedError(
                f"tier {access.label} may not set {field}: tier {least.label} is needed",
                field=field,
                needs=least.label,
                has=access.label,
            )


def _guarded(header: Header | None, field: str) -> Any:
    if header is None:
        return CurationTier.PROVISIONAL if field == "curationTier" else False
    match field:
        case "curationTier":
            return header.curation_tier
        case "pinned":
            return header.pinned
        case _:
            return header.is_permanent


def _describe(header: Header) -> str:
    return "permanent entries" if header.is_permanent else f"{header.curation_tier} entries"
