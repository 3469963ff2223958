"""Erases an entry from backups and rewrites their hashes, so that every chain still verifies."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from qms.config.root import OWN_FOLDER
from qms.disk.disk import Disk
from qms.features.backups.backup_manifest import BackupKind, Manifest, ParentLink, manifest_digest
from qms.features.backups.files import (
    ARCHIVE_NAME,
    CHANGES_NAME,
    ENTRIES_NAME,
    FEATURES_NAME,
    KEPT_NAME,
    BackupFolder,
    Broken,
    describe_file,
)
from qms.features.backups.past import encode_features, features_of
from qms.memory.changes import Put
from qms.memory.errors import UNDECODABLE
from qms.store.change_log import decode_logged, without_entry
from qms.store.erase import id_of, is_about
from qms.store.feature_files import FeatureFiles
from qms.store.file_image import split_lines
from qms.store.file_state import ARCHIVE_NOTE
from qms.store.memory_store import MemoryStore

_INDEXES = "indexes"


def erase_from_backups(backup_folder: BackupFolder, store: MemoryStore, entry_id: str) -> int:
    """Erase an entry from all backups of a store; return the number of backups that held it.

    Raises:
        BrokenBackupError: a backup does not match its manifest; those before it are done.
        OSError: a backup cannot be written; another call does the rest.
    """
    project, features = store.project, store.features
    found = backup_folder.all(project)
    erasure = _Erasure(backup_folder, features, entry_id)
    for one in found:
        if isinstance(one, Manifest):
            erasure.rewrite(one)
    copies = [backup_folder.folder(project, one.id) for one in found if isinstance(one, Broken)]
    for folder in [*copies, *_other_copies(backup_folder, project)]:
        erasure.count += erase_from_folder(backup_folder.disk, folder, entry_id)
        features.beside(folder / OWN_FOLDER).forget(entry_id)
        backup_folder.disk.remove(folder / FEATURES_NAME)  # it has no manifest to trust it by
    return erasure.count


def find_in_backups(backup_folder: BackupFolder, store: MemoryStore, entry_id: str) -> int:
    """Return the number of copies below the backup folder that hold an entry."""
    project, wanted = store.project, msgspec.json.encode(entry_id)
    folders = [*(backup_folder.folder(project, one) for one in backup_folder.ids(project))]
    folders += _other_copies(backup_folder, project)
    return sum(
        any(wanted in backup_folder.disk.read(path) for path in folder.rglob("*.jsonl"))
        for folder in folders
    )


def erase_from_folder(disk: Disk, folder: Path, entry_id: str) -> int:
    """Erase an entry from the plain files of a copied store, and remove the copy's indexes."""
    count = 0
    for path in sorted(folder.rglob("*.jsonl")):
        lines = disk.read(path).split(b"\n")
        kept = [without_entry_or_line(line, entry_id) for line in lines]
        if kept != lines:
            disk.put(path, b"\n".join(line for line in kept if line is not None))
            count = 1
    if count:
        disk.remove(folder / OWN_FOLDER / ARCHIVE_NOTE)
    if count and (folder / _INDEXES).is_dir():
        for path in list((folder / _INDEXES).rglob("*")):
            if path.is_file():
                disk.remove(path)
    return count


def without_entry_or_line(line: bytes, entry_id: str) -> bytes | None:
    """Return a line without the entry: a change set without it, None for the entry's own line."""
    if not line:
        return line
    try:
        return without_entry(line, entry_id) if b'"changeSet"' in line else _kept(line, entry_id)
    except UNDECODABLE:
        return _kept(line, entry_id)


def _kept(line: bytes, entry_id: str) -> bytes | None:
    return None if is_about(line, entry_id) else line


class _Erasure:
    """Erases one entry from several backups, parents before children."""

    def __init__(self, backup_folder: BackupFolder, features: FeatureFiles, entry_id: str) -> None:
        self._folder = backup_folder
        self._features = features
        self._entry_id = entry_id
        self._lines: dict[str, dict[str, bytes]] = {}
        """The lines of the entry and its chunks, by their ids, by the backup's id."""
        self._links: dict[str, ParentLink] = {}
        self.count = 0

    def rewrite(self, manifest: Manifest) -> None:
        contents, other_lines = self._contents(manifest)
        lines = self._held(manifest).values()
        link = self._links.get(manifest.parent.id) if manifest.parent else None
        described = {name: describe_file(data) for name, data in contents.items()}
        changed = msgspec.structs.replace(
            manifest,
            parent=link or manifest.parent,
            other_lines=other_lines,
            entries=manifest.entries - len(lines),
            entry_bytes=manifest.entry_bytes - sum(len(line) + 1 for line in lines),
            files={**manifest.files, **described},
        )
        if changed != manifest:
            self._folder.rewrite(changed, contents)
        self._links[manifest.id] = ParentLink(manifest.id, manifest_digest(changed))
        self.count += bool(contents)

    def _contents(self, manifest: Manifest) -> tuple[dict[str, bytes], tuple[int, ...]]:
        """Return the files that change, and the new positions of lines that are no entries."""
        contents: dict[str, bytes] = {}
        others = manifest.other_lines
        for name in (ENTRIES_NAME, KEPT_NAME, CHANGES_NAME, ARCHIVE_NAME):
            before = split_lines(self._folder.read(manifest, name))
            after = [without_entry_or_line(line, self._entry_id) for line in before]
            if after == before:
                continue
            if name == ENTRIES_NAME:
                others = tuple(_shifted(after, manifest.other_lines))
            contents[name] = b"".join(line + b"\n" for line in after if line is not None)
        return contents | self._without_in_features(manifest), others

    def _without_in_features(self, manifest: Manifest) -> dict[str, bytes]:
        """Return the files of features without the entry, if that changes them."""
        before = features_of(self._folder, manifest)
        if not before:
            return {}
        with self._folder.scratch(manifest.id) as scratch:
            copy = self._features.beside(scratch)
            copy.put_back(before)
            copy.forget(self._entry_id)
            after = before | copy.saved()
        return {FEATURES_NAME: encode_features(after)} if after != before else {}

    def _held(self, manifest: Manifest) -> dict[str, bytes]:
        """Return the lines of the entry and its chunks as they were when the backup was made."""
        if manifest.mode is BackupKind.FULL:
            lines = self._in_full(manifest)
        else:
            lines = dict(self._lines.get(manifest.parent.id, {})) if manifest.parent else {}
            for one in decode_logged(split_lines(self._folder.read(manifest, CHANGES_NAME))):
                for change in one.change_set.changes:
                    if isinstance(change, Put) and is_about(change.line, self._entry_id):
                        lines[change.id] = change.line
                    else:
                        lines.pop(change.id, None)
        self._lines[manifest.id] = lines
        return lines

    def _in_full(self, manifest: Manifest) -> dict[str, bytes]:
        others = set(manifest.other_lines)
        lines = split_lines(self._folder.read(manifest, ENTRIES_NAME))
        entries = [line for number, line in enumerate(lines) if number not in others]
        entries += split_lines(self._folder.read(manifest, KEPT_NAME))
        found = (line.strip() for line in entries if is_about(line, self._entry_id))
        return {id_of(line): line for line in found}


def _shifted(after: list[bytes | None], others: tuple[int, ...]) -> Iterator[int]:
    place, wanted = 0, set(others)
    for number, line in enumerate(after):
        if line is None:
            continue
        if number in wanted:
            yield place
        place += 1


def _other_copies(backup_folder: BackupFolder, project: str) -> list[Path]:
    """Return copies of the store that are no backups: from migrations and removed projects."""
    if not backup_folder.root.is_dir():
        return []
    known = set(backup_folder.ids(project))
    places = [one for one in backup_folder.root.iterdir() if one.name not in known]
    return sorted(one / project for one in places if (one / project).is_dir())
