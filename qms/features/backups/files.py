"""Backup files in `Backups/<id>/<project>/`: writes, lists, reads and removes them.

A backup is written under a temporary name, read back file by file, and renamed last: a listed
backup was complete on the disk at least once.
"""

import contextlib
import hashlib
import logging
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType

import msgspec

from qms.disk.disk import Disk
from qms.disk.regular_files import regular_reader
from qms.features.backups.backup_manifest import (
    MANIFEST_NAME,
    BackupFile,
    BrokenBackupError,
    Manifest,
    decode_manifest,
    encode_manifest,
)

log = logging.getLogger(__name__)

ENTRIES_NAME = "entries.jsonl"
KEPT_NAME = "kept.jsonl"
"""Last good versions of entries whose line in the file is unreadable."""
ARCHIVE_NAME = "archive.jsonl"
CHANGES_NAME = "changes.jsonl"
CONFIG_NAME = "config.toml"
FEATURES_NAME = "features.json"
"""The files that features keep beside the entries and declare for backups."""

BACKUP_ID = re.compile(r"(?:pre-restore-)?\d{8}T\d{12}Z")

_PARTIAL = ".partial-"
_PROBE = ".write-test"
_SCRATCH = ".scratch-"
_NEW_SUFFIX = ".new"
_READ_BYTES = 1 << 18


class Broken(msgspec.Struct, frozen=True):
    """A backup whose manifest cannot be trusted."""

    id: str
    reason: str


class BackupFolder:
    """All backups below one folder."""

    def __init__(self, disk: Disk, root: Path) -> None:
        self.disk = disk
        self.root = root

    def probe(self) -> None:
        """Write a test file and remove it.

        Raises:
            OSError: the folder cannot be written.
        """
        self.disk.make_folder(self.root)
        probe = self.root / _PROBE
        self.disk.write_new(probe, [b"write test\n"])
        self.disk.remove(probe)

    def ids(self, project: str) -> list[str]:
        """Return the ids of a project's backups, oldest first; those before restores last."""
        if not self.root.is_dir():
            return []
        names = [one.name for one in self.root.iterdir() if (one / project).is_dir()]
        return sorted(name for name in names if BACKUP_ID.fullmatch(name))

    def find(self, project: str, backup_id: str) -> Manifest | Broken | None:
        """Return the manifest of a backup, why it is broken, or None when there is none."""
        if not BACKUP_ID.fullmatch(backup_id) or not self.folder(project, backup_id).is_dir():
            return None
        self._finish_rewrite(project, backup_id)
        try:
            manifest = decode_manifest(self.disk.read(self._path(project, backup_id)))
        except FileNotFoundError:
            return Broken(backup_id, f"{MANIFEST_NAME} is missing")
        except (BrokenBackupError, OSError) as error:
            return Broken(backup_id, str(error))
        if (manifest.id, manifest.project) != (backup_id, project):
            return Broken(backup_id, f"{MANIFEST_NAME} belongs to {manifest.id}")
        return manifest

    def all(self, project: str) -> list[Manifest | Broken]:
        """Return the backups of a project, oldest first."""
        found = (self.find(project, one) for one in self.ids(project))
        return [one for one in found if one is not None]

    def folder(self, project: str, backup_id: str) -> Path:
        """Return the folder of a backup."""
        return self.root / backup_id / project

    def read(self, manifest: Manifest, name: str) -> bytes:
        """Return a file of a backup after checking its hash; empty if the backup has no such file.

        Raises:
            BrokenBackupError: it is missing or was changed.
        """
        expected = manifest.files.get(name)
        if expected is None:
            return b""
        try:
            data = self.disk.read(self.folder(manifest.project, manifest.id) / name)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise BrokenBackupError(f"{manifest.id}: {name}: {reason}") from None
        if hashlib.sha256(data).hexdigest() != expected.sha256:
            raise BrokenBackupError(f"{manifest.id}: {name} does not match its hash")
        return data

    @contextlib.contextmanager
    def scratch(self, name: str) -> Iterator[Path]:
        """Yield an empty folder that is removed afterwards."""
        folder = self.root / f"{_SCRATCH}{name}"
        _clear(self.disk, folder)
        self.disk.make_folder(folder)
        try:
            yield folder
        finally:
            _clear(self.disk, folder)

    def writer(self, project: str, backup_id: str) -> "BackupWriter":
        """Return the writer of a new backup; use it with `with`."""
        return BackupWriter(self, project, backup_id)

    def remove(self, project: str, backup_id: str) -> None:
        """Remove a backup; the first step renames it, so that it is not listed any more."""
        folder, place = self.folder(project, backup_id), self.root / backup_id
        aside = place / f"{_PARTIAL}{project}"
        _clear(self.disk, aside)
        self.disk.rename(folder, aside)
        _clear(self.disk, aside)
        with contextlib.suppress(OSError):  # other projects have theirs in it
            place.rmdir()

    def rewrite(self, manifest: Manifest, contents: dict[str, bytes]) -> None:
        """Replace files of a backup and its manifest.

        New files are written beside the old ones, then the manifest is replaced, then they are
        renamed; `find` completes a rewrite that a crash interrupted.

        Raises:
            OSError: the backup is unchanged, or completed by the next `find`.
        """
        folder = self.folder(manifest.project, manifest.id)
        for name, content in contents.items():
            self.disk.write_new(folder / (name + _NEW_SUFFIX), [content])
        self.disk.put(folder / MANIFEST_NAME, encode_manifest(manifest))
        self._finish_rewrite(manifest.project, manifest.id)

    def _path(self, project: str, backup_id: str) -> Path:
        return self.folder(project, backup_id) / MANIFEST_NAME

    def _finish_rewrite(self, project: str, backup_id: str) -> None:
        folder = self.folder(project, backup_id)
        staged = list(folder.glob(f"*{_NEW_SUFFIX}"))
        if not staged:
            return
        with contextlib.suppress(BrokenBackupError, OSError):
            files = decode_manifest(self.disk.read(folder / MANIFEST_NAME)).files
            for path in staged:
                name = path.name.removesuffix(_NEW_SUFFIX)
                digest = hashlib.sha256(self.disk.read(path)).hexdigest()
                if name in files and files[name].sha256 == digest:
                    self.disk.replace(path, folder / name)
                else:
                    self.disk.remove(path)
            self.disk.sync_folder(folder)


class BackupWriter:
    """Writes one backup; without `finish` all of its files are removed."""

    def __init__(self, backup_folder: BackupFolder, project: str, backup_id: str) -> None:
        self._disk = backup_folder.disk
        self._place = backup_folder.root / backup_id
        self._staged = self._place / f"{_PARTIAL}{project}"
        self._folder = self._place / project
        self.files: dict[str, BackupFile] = {}

    def __enter__(self) -> "BackupWriter":
        _clear(self._disk, self._staged)
        self._disk.make_folder(self._staged)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            with contextlib.suppress(OSError):
                _clear(self._disk, self._staged)
                self._place.rmdir()

    def add(self, name: str, chunks: Callable[[], Iterable[bytes]]) -> None:
        """Write one file, sync it, and read it back; `chunks` gives its content once more.

        Raises:
            OSError: it is not what was written.
        """
        path = self._staged / name
        self._disk.write_new(path, chunks())
        self.files[name] = _read_back(path, chunks())

    def copy(self, name: str, source: Path, *, sha256: str, lines: int) -> bool:
        """Copy a file that is known by its hash, and read it back; False when it is another one.

        Raises:
            OSError: it cannot be read or written.
        """
        path = self._staged / name
        self._disk.copy(source, path, sync=True)
        found, size = _digest_of(path)
        if found != sha256:
            self._disk.remove(path)
            return False
        self.files[name] = BackupFile(found, size, lines)
        return True

    def finish(self, manifest: Manifest) -> None:
        """Complete the backup: write the manifest, then rename the folder.

        Raises:
            OSError: the backup is not complete.
        """
        data = encode_manifest(manifest)
        self._disk.write_new(self._staged / MANIFEST_NAME, [data])
        if self._disk.read(self._staged / MANIFEST_NAME) != data:
            raise OSError("the manifest is not what was written")
        self._disk.sync_folder(self._staged)
        self._disk.rename(self._staged, self._folder)
        self._disk.sync_folder(self._place)
        self._disk.sync_folder(self._place.parent)


def describe_file(data: bytes) -> BackupFile:
    """Return the manifest's description of a file with this content."""
    return BackupFile(hashlib.sha256(data).hexdigest(), len(data), data.count(b"\n"))


def _read_back(path: Path, written: Iterable[bytes]) -> BackupFile:
    """Compare a file with the written chunks, and return the hash of the bytes read back."""
    digest, size, lines = hashlib.sha256(), 0, 0
    with regular_reader(path) as file:
        for chunk in written:
            found = file.read(len(chunk))
            if found != chunk:
                raise OSError(f"{path.name} is not what was written")
            digest.update(found)
            size, lines = size + len(found), lines + found.count(b"\n")
        if file.read(1):
            raise OSError(f"{path.name} is longer than what was written")
    return BackupFile(digest.hexdigest(), size, lines)


def _digest_of(path: Path) -> tuple[str, int]:
    digest, size, buffer = hashlib.sha256(), 0, memoryview(bytearray(_READ_BYTES))
    with regular_reader(path) as file:
        while read := file.readinto(buffer):
            digest.update(buffer[:read])
            size += read
    return digest.hexdigest(), size


def _clear(disk: Disk, folder: Path) -> None:
    if not folder.is_dir():
        return
    for path in _files_below(folder):
        disk.remove(path)
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir()
    folder.rmdir()


def _files_below(folder: Path) -> Iterator[Path]:
    return (path for path in list(folder.rglob("*")) if not path.is_dir())
