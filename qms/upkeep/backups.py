"""Planning backups: what to make next, what a backup needs, and which may go."""

from collections.abc import Sequence

from qms.files.backup import Broken
from qms.files.backup_manifest import BackupKind, BrokenBackupError, Manifest, manifest_digest

LINKS_TO_FULL = 7
"""A scheduled differential that would be the seventh after a full one is made full instead, so
that a restore reads a week at most, and old chains can go."""

PRE_RESTORE = "pre-restore-"
"""What the names of states before a restore begin with; they stand outside of all chains."""

Found = Sequence[Manifest | Broken]
"""The backups of one project, oldest first."""


def timeline(found: Found) -> list[Manifest]:
    """Return the readable backups in the order in which they were made."""
    good = [one for one in found if isinstance(one, Manifest)]
    return [one for one in good if not one.id.startswith(PRE_RESTORE)]


def chain(found: Found, backup_id: str) -> list[Manifest]:
    """Return what a backup needs, from a full one to itself.

    Raises:
        BrokenBackupError: a link is missing or is not the one that its child was made after.
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
            raise BrokenBackupError(f"{one.id} is not the parent that {links[-1].id} was made of")
        links.append(one)
        is_differential = one.mode is BackupKind.DIFFERENTIAL
        wanted = one.parent.id if is_differential and one.parent else None
    if links[-1].mode is not BackupKind.FULL:
        raise BrokenBackupError(f"{links[-1].id} has no parent")
    return links[::-1]


def scheduled_mode(found: Found, wanted: BackupKind) -> BackupKind:
    """Return what the next backup by the clock is to be."""
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

    States before restores are counted on their own. A broken one goes with the others of its age.
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
