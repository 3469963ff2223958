"""Verifies a backup: the hash of every file of its chain, then the rebuilt store."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from qms.features.backups.backup_manifest import BrokenBackupError, Manifest
from qms.features.backups.files import ENTRIES_NAME, BackupFolder
from qms.features.backups.past import Past, rebuild
from qms.features.backups.plan import chain
from qms.store.memory_store import MemoryStore
from qms.store.options import StoreOptions

Clock = Callable[[], datetime]


def verify(
    backup_folder: BackupFolder, project: str, backup_id: str, options: StoreOptions, clock: Clock
) -> Manifest:
    """Rebuild a store from a backup in a scratch folder, compare, and return the manifest.

    Raises:
        BrokenBackupError: a file is missing, changed or swapped; the message says which.
    """
    links = chain(backup_folder.all(project), backup_id)
    for manifest in links:
        for name in manifest.files:
            backup_folder.read(manifest, name)
    past = rebuild(backup_folder, links)
    with backup_folder.scratch(backup_id) as scratch:
        _compare(past, backup_folder, scratch / project, options, clock)
    return links[-1]


def _compare(
    past: Past, backup_folder: BackupFolder, folder: Path, options: StoreOptions, clock: Clock
) -> None:
    backup_folder.disk.make_folder(folder)
    lines = (line + b"\n" for line in past.lines.values())
    backup_folder.disk.write_new(folder / ENTRIES_NAME, lines, sync=False)
    store = MemoryStore.open(
        folder,
        folder.name,
        disk=backup_folder.disk,
        options=options,
        backup_root=folder.parent,
        clock=clock,
    )
    try:
        found = {one: record.line for one, record in store.view.records.items()}
    finally:
        store.close()
    differing = {one for one in found | past.lines if found.get(one) != past.lines.get(one)}
    if differing:
        raise BrokenBackupError(
            f"{len(differing)} entries of the rebuilt store differ, for example {min(differing)}"
        )
