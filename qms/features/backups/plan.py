"""Plans backups: the mode of the next one, the chain of each, and which may be pruned."""

from collections.abc import Sequence

from qms.features.backups.backup_manifest import (
    BackupKind,
    BrokenBackupError,
    Manifest,
    manifest_digest,
)
from qms.features.backups.files import Broken

LINKS_TO_FULL = 7
"""A scheduled differential that would be the seventh after a full one is made full instead, so
that a restore reads at most a week, and old chains can be pruned."""

PRE_RESTORE = "pre-restore-"
"""The prefix of backups made before a restore; they belong to no chain."""

Found = Sequence[Manifest | Broken]
"""The backups of one project, oldest first."""


def timeline(found: Found) -> list[Manifest]:
    """Return the readable backups in the order in which they were made."""
    good = [one for one in found if isinstance(one, Manifest)]
    return [one for one in good if not one.id.startswith(PRE_RESTORE)]


def chain(found: Found, backup_id: str) -> list[Manifest]:
    """Return the chain of a backup, from a full one to itself.

    Raises:
        BrokenBackupError: a link is missing, or is not the parent that its child names.
    """
    by_id = {one.id: one for one in found}
    links: list[Manifest] = []
    wanted: str | None = backup_id
    while wanted is not None:
        one = by_id.get(wanted)
        if not isinstance(one, Manifest):
            reason = f": {one.reason}" if one else " is missing"
            raise BrokenBackupError(f"{wanted}{reason}")
        if links and links[-1].parent and links[-1].parent.sha256 != manifest_digest(one):
            raise BrokenBackupError(f"{one.id} is not the parent that {links[-1].id} names")
        links.append(one)
        is_differential = one.mode is BackupKind.DIFFERENTIAL
        wanted = one.parent.id if is_differential and one.parent else None
    if links[-1].mode is not BackupKind.FULL:
        raise BrokenBackupError(f"{links[-1].id} has no parent")
    return links[::-1]


def scheduled_mode(found: Found, wanted: BackupKind) -> BackupKind:
    """Return the kind of the next scheduled backup."""
    made = timeline(found)
    if not made:
        return BackupKind.FULL
    try:
        links = len(chain(found, made[-1].id))
    except BrokenBackupError:
        return BackupKind.FULL
    return BackupKind.FULL if links >= LINKS_TO_FULL else wanted


def prunable(found: Found, keep: int) -> list[str]:
    """Return the backups beyond the newest `keep` that no kept one needs.

    Backups made before restores are counted separately. A broken one counts like the others.
    """
    ids = [one.id for one in found]
    regular = [one for one in ids if not one.startswith(PRE_RESTORE)]
    before = [one for one in ids if one.startswith(PRE_RESTORE)]
    newest = [*regular[-keep:], *before[-keep:]]
    parents = {
        one.id: one.parent.id
        for one in found
        if isinstance(one, Manifest) and one.parent and one.mode is BackupKind.DIFFERENTIAL
    }
    kept: set[str] = set()
    for one in newest:
        link: str | None = one
        while link is not None and link not in kept:
            kept.add(link)
            link = parents.get(link)
    return [one for one in ids if one not in kept]
