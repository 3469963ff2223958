"""The shelf of backups: a backup is what its own manifest says, and no other one."""

import shutil
from pathlib import Path

import pytest

from qms.disk.append_log import LogMark
from qms.disk.disk import Disk
from qms.features.backups.backup_manifest import BackupKind, Manifest
from qms.features.backups.files import ENTRIES_NAME, BackupFolder, Broken
from tests.support.boxes import NOW

FIRST, SECOND = "20260105T090000000000Z", "20260105T100000000000Z"


def back_up(backup_folder: BackupFolder, project: str, backup_id: str) -> Manifest:
    """Make a full backup of a store that has no entries."""
    with backup_folder.writer(project, backup_id) as writer:
        writer.add(ENTRIES_NAME, lambda: [b"\n"])
        manifest = Manifest(
            id=backup_id,
            project=project,
            mode=BackupKind.FULL,
            created_utc=NOW,
            lineage="lineage",
            sequence=1,
            changes_after=None,
            entries=0,
            entry_bytes=0,
            parent=None,
            archive=LogMark(),
            files=writer.files,
        )
        writer.finish(manifest)
    return manifest


@pytest.fixture
def backup_folder(tmp_path: Path) -> BackupFolder:
    return BackupFolder(Disk(), tmp_path / "Backups")


def test_a_backup_is_found_by_its_project_and_its_id(backup_folder: BackupFolder) -> None:
    made = [back_up(backup_folder, "one", FIRST), back_up(backup_folder, "one", SECOND)]

    assert backup_folder.all("one") == made
    assert backup_folder.find("one", SECOND) == made[1]
    assert backup_folder.find("two", FIRST) is None


def test_the_manifest_of_another_backup_of_the_project_is_refused(
    backup_folder: BackupFolder,
) -> None:
    back_up(backup_folder, "one", FIRST)
    shutil.copytree(backup_folder.folder("one", FIRST), backup_folder.folder("one", SECOND))

    assert backup_folder.find("one", SECOND) == Broken(SECOND, f"manifest.json belongs to {FIRST}")


def test_the_manifest_of_another_project_is_refused(backup_folder: BackupFolder) -> None:
    back_up(backup_folder, "one", FIRST)
    shutil.copytree(backup_folder.folder("one", FIRST), backup_folder.folder("two", FIRST))

    found = backup_folder.find("two", FIRST)

    assert isinstance(found, Broken)
    assert found.id == FIRST
