"""Verifying a backup: every link of its chain by hash, then the store that it gives back."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from qms.files.backup import ENTRIES_NAME, Shelf
from qms.files.backup_manifest import BrokenBackupError, Manifest
from qms.store.memory_store import MemoryStore
from qms.store.options import StoreOptions
from qms.store.past import Past, rebuild
from qms.upkeep.backups import chain

Clock = Callable[[], datetime]


def verify(
    shelf: Shelf, project: str, backup_id: str, options: StoreOptions, clock: Clock
) -> Manifest:
    """Rebuild a store from a backup in a scratch folder, compare, and return the manifest.

    Raises:
        BrokenBackupError: something is missing, changed or swapped; the message says what.
    """
    links = chain(shelf.all(project), backup_id)
    for manifest in links:
        for name in manifest.files:
            shelf.read(manifest, name)
    past = rebuild(shelf, links)
    with shelf.scratch(backup_id) as scratch:
        _compare(past, shelf, scratch / project, options, clock)
    return links[-1]


def _compare(past: Past, shelf: Shelf, folder: Path, options: StoreOptions, clock: Clock) -> None:
    shelf.disk.make_folder(folder)
    lines = (line + b"\n" for line in past.lines.values())
    shelf.disk.write_new(folder / ENTRIES_NAME, lines, sync=False)
    store = MemoryStore.open(
        folder,
        folder.name,
        disk=shelf.disk,
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
            f"{len(differing)} entries of the rebuilt store differ, {min(differing)} among them"
        )
