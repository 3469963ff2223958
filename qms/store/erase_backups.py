"""Erasing an entry from backups: rewritten with new hashes, so that every chain still verifies."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from qms.domain.changes import Put
from qms.files.backup import (
    ARCHIVE_NAME,
    CHANGES_NAME,
    ENTRIES_NAME,
    KEPT_NAME,
    Broken,
    Shelf,
    describe_file,
)
from qms.files.backup_manifest import BackupKind, Manifest, ParentLink, manifest_digest
from qms.files.change_log import decode_logged, without_entry
from qms.fsio.disk import Disk
from qms.store.erase import is_about
from qms.store.image import split_lines

_INDEXES = "indexes"


def erase_from_backups(shelf: Shelf, project: str, entry_id: str) -> int:
    """Take an entry out of all backups of a project; return in how many it was.

    Raises:
        BrokenBackupError: a backup is not what it says; those before it are done.
        OSError: a backup cannot be written; doing it again does the rest.
    """
    found = shelf.all(project)
    erasure = _Erasure(shelf, entry_id)
    for one in found:
        if isinstance(one, Manifest):
            erasure.rewrite(one)
    copies = [shelf.folder(project, one.id) for one in found if isinstance(one, Broken)]
    for folder in [*copies, *_other_copies(shelf, project)]:
        erasure.count += erase_from_folder(shelf.disk, folder, entry_id)
    return erasure.count


def find_in_backups(shelf: Shelf, project: str, entry_id: str) -> int:
    """Return in how many copies below the folder of backups an entry is found."""
    wanted = msgspec.json.encode(entry_id)
    folders = [*(shelf.folder(project, one) for one in shelf.ids(project))]
    folders += _other_copies(shelf, project)
    return sum(
        any(wanted in shelf.disk.read(path) for path in folder.rglob("*.jsonl"))
        for folder in folders
    )


def erase_from_folder(disk: Disk, folder: Path, entry_id: str) -> int:
    """Take an entry out of the plain files of a copied store; its indexes can be made again."""
    count = 0
    for path in sorted(folder.rglob("*.jsonl")):
        lines = disk.read(path).split(b"\n")
        kept = [without_entry_or_line(line, entry_id) for line in lines]
        if kept != lines:
            disk.put(path, b"\n".join(line for line in kept if line is not None))
            count = 1
    if count and (folder / _INDEXES).is_dir():
        for path in list((folder / _INDEXES).rglob("*")):
            if path.is_file():
                disk.remove(path)
    return count


def without_entry_or_line(line: bytes, entry_id: str) -> bytes | None:
    """Return a line as it may stay: a change set without the entry, None for the entry's own."""
    if not line:
        return line
    try:
        return without_entry(line, entry_id) if b'"changeSet"' in line else _kept(line, entry_id)
    except msgspec.MsgspecError:
        return _kept(line, entry_id)


def _kept(line: bytes, entry_id: str) -> bytes | None:
    return None if is_about(line, entry_id) else line


class _Erasure:
    """One entry on its way out of a row of backups, parents before children."""

    def __init__(self, shelf: Shelf, entry_id: str) -> None:
        self._shelf = shelf
        self._entry_id = entry_id
        self._lines: dict[str, bytes | None] = {}
        """The entry's line as each backup has it, by the backup's id."""
        self._links: dict[str, ParentLink] = {}
        self.count = 0

    def rewrite(self, manifest: Manifest) -> None:
        contents, other_lines = self._contents(manifest)
        line = self._line(manifest)
        link = self._links.get(manifest.parent.id) if manifest.parent else None
        described = {name: describe_file(data) for name, data in contents.items()}
        changed = msgspec.structs.replace(
            manifest,
            parent=link or manifest.parent,
            other_lines=other_lines,
            entries=manifest.entries - (line is not None),
            entry_bytes=manifest.entry_bytes - (len(line) + 1 if line is not None else 0),
            files={**manifest.files, **described},
        )
        if changed != manifest:
            self._shelf.rewrite(changed, contents)
        self._links[manifest.id] = ParentLink(manifest.id, manifest_digest(changed))
        self.count += bool(contents)

    def _contents(self, manifest: Manifest) -> tuple[dict[str, bytes], tuple[int, ...]]:
        """Return the files that change, and where in the entries lines stand that are none."""
        contents: dict[str, bytes] = {}
        others = manifest.other_lines
        for name in (ENTRIES_NAME, KEPT_NAME, CHANGES_NAME, ARCHIVE_NAME):
            before = split_lines(self._shelf.read(manifest, name))
            after = [without_entry_or_line(line, self._entry_id) for line in before]
            if after == before:
                continue
            if name == ENTRIES_NAME:
                others = tuple(_moved(after, manifest.other_lines))
            contents[name] = b"".join(line + b"\n" for line in after if line is not None)
        return contents, others

    def _line(self, manifest: Manifest) -> bytes | None:
        """Return the entry's line as it was when the backup was made."""
        if manifest.mode is BackupKind.FULL:
            line = self._in_full(manifest)
        else:
            line = self._lines.get(manifest.parent.id) if manifest.parent else None
            for one in decode_logged(split_lines(self._shelf.read(manifest, CHANGES_NAME))):
                for change in one.change_set.changes:
                    if change.id == self._entry_id:
                        line = change.line if isinstance(change, Put) else None
        self._lines[manifest.id] = line
        return line

    def _in_full(self, manifest: Manifest) -> bytes | None:
        others = set(manifest.other_lines)
        lines = split_lines(self._shelf.read(manifest, ENTRIES_NAME))
        entries = [line for number, line in enumerate(lines) if number not in others]
        entries += split_lines(self._shelf.read(manifest, KEPT_NAME))
        found = [line.strip() for line in entries if is_about(line, self._entry_id)]
        return found[-1] if found else None


def _moved(after: list[bytes | None], others: tuple[int, ...]) -> Iterator[int]:
    place, wanted = 0, set(others)
    for number, line in enumerate(after):
        if line is None:
            continue
        if number in wanted:
            yield place
        place += 1


def _other_copies(shelf: Shelf, project: str) -> list[Path]:
    """Return copies of the store that are no backups: of migrations, of removed projects."""
    if not shelf.root.is_dir():
        return []
    known = set(shelf.ids(project))
    places = [one for one in shelf.root.iterdir() if one.name not in known]
    return sorted(one / project for one in places if (one / project).is_dir())
