"""Planning backups: what may go, and what comes next."""

from datetime import UTC, datetime

import pytest

from qms.disk.append_log import LogMark
from qms.features.backups.backup_manifest import (
    BackupKind,
    BrokenBackupError,
    Manifest,
    ParentLink,
    manifest_digest,
)
from qms.features.backups.files import Broken
from qms.features.backups.plan import LINKS_TO_FULL, chain, prunable, scheduled_mode


def row(modes: str, prefix: str = "") -> list[Manifest | Broken]:
    """Return backups, one for each letter: f(ull), d(ifferential), b(roken)."""
    made: list[Manifest | Broken] = []
    parent: ParentLink | None = None
    for number, letter in enumerate(modes):
        name = f"{prefix}2026030{number // 10}T0{number % 10}0000000000Z"
        if letter == "b":
            made.append(Broken(name, "torn"))
            continue
        manifest = Manifest(
            id=name,
            project="p",
            mode=BackupKind.FULL if letter == "f" else BackupKind.DIFFERENTIAL,
            created_utc=datetime(2026, 3, 1, number, tzinfo=UTC),
            lineage="l",
            sequence=number,
            changes_after=None,
            entries=0,
            entry_bytes=0,
            parent=parent,
            archive=LogMark(),
            files={},
        )
        parent = ParentLink(name, manifest_digest(manifest))
        made.append(manifest)
    return made


@pytest.mark.parametrize(
    ("modes", "keep", "left"),
    [
        ("fff", 2, [1, 2]),
        ("fdd", 1, [0, 1, 2]),
        ("fdfd", 1, [2, 3]),
        ("fdfd", 2, [2, 3]),
        ("fdfd", 3, [0, 1, 2, 3]),
        ("bbf", 2, [1, 2]),
        ("f", 5, [0]),
    ],
)
def test_the_newest_stay_with_everything_that_they_need(
    modes: str, keep: int, left: list[int]
) -> None:
    found = row(modes)
    gone = prunable(found, keep)

    assert [number for number, one in enumerate(found) if one.id not in gone] == left


def test_states_before_restores_are_counted_on_their_own() -> None:
    found = [*row("ff"), *row("fff", "pre-restore-")]

    assert prunable(found, 2) == [found[2].id]


def test_a_chain_leads_from_a_full_backup_to_the_one_that_is_asked_for() -> None:
    found = row("fdfdd")

    assert [one.sequence for one in chain(found, found[4].id)] == [2, 3, 4]
    with pytest.raises(BrokenBackupError, match="is missing"):
        chain(found[3:], found[4].id)


def test_by_the_clock_a_long_chain_ends_with_a_full_backup() -> None:
    wanted = BackupKind.DIFFERENTIAL

    assert scheduled_mode([], wanted) is BackupKind.FULL
    assert scheduled_mode(row("fd"), wanted) is BackupKind.DIFFERENTIAL
    assert scheduled_mode(row("f" + "d" * (LINKS_TO_FULL - 1)), wanted) is BackupKind.FULL
    assert scheduled_mode(row("fbd")[1:], wanted) is BackupKind.FULL
