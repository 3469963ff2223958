"""Access tiers and the rights table: who may do what to which entry."""

from enum import IntEnum
from typing import Any

import msgspec

from qms.domain.entry import CurationTier, Header
from qms.domain.errors import ConflictError, NotAllowedError


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


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """Who asks, and with which tier in the project at hand."""

    user: str
    access: AccessTier
    key_id: str | None = None
    agent_id: str | None = None


LOCAL_USER = "local"
"""The owner of the machine, whom no key of the configuration stands for."""

LOCAL_ACCESS = AccessTier.WRITER
"""What an agent may do that the owner has started, unless the configuration names the user."""

LOCAL_ADMIN = Caller(user=LOCAL_USER, access=AccessTier.ADMIN)
"""Whoever works on the files of a stopped server: the owner of the machine."""

SYSTEM_USER = "system"
"""Who the audit log names for what nobody asked for."""

HAND_EDITOR = Caller(user="hand-edit", access=AccessTier.ADMIN)
"""Whoever can write `entries.jsonl` has admin rights over its entries."""

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


def tier_to_edit(header: Header) -> AccessTier:
    """Return the least tier that may edit or delete this entry."""
    return AccessTier.ADMIN if header.is_permanent else _EDIT_TIER[header.curation_tier]


def may_edit(access: AccessTier, header: Header) -> bool:
    """Say whether a caller with this tier may edit the entry."""
    return access >= tier_to_edit(header)


def may_set(access: AccessTier, field: str) -> bool:
    """Say whether a caller with this tier may change this field of an entry."""
    return access >= _FIELD_TIER.get(field, AccessTier.WRITER)


def check_create(access: AccessTier, after: Header) -> None:
    """Raise `NotAllowedError` when the new entry needs a higher tier."""
    _check_tier(access, AccessTier.WRITER, "create entries")
    _check_fields(access, None, after)


def check_edit(access: AccessTier, before: Header, after: Header) -> None:
    """Raise `NotAllowedError` when the edit needs a higher tier, naming the field."""
    _check_tier(access, tier_to_edit(before), f"edit {_describe(before)}")
    _check_fields(access, before, after)


def check_delete(access: AccessTier, before: Header, *, force: bool) -> None:
    """Raise when the entry may not be deleted by this caller, or not without `force`."""
    _check_tier(access, tier_to_edit(before), f"delete {_describe(before)}")
    if before.is_permanent and not force:
        raise ConflictError(
            f"entry {before.id} is permanent: pass force to delete it", id=before.id, field="force"
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
