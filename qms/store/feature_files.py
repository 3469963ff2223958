"""Feature files: files that features keep beside the entries, each declared by its class.

The store opens them without knowing their content. Erasure, backups, `memoryctl doctor` and the
test of lost caches go through all declared files, so that no feature is forgotten.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, TypeVar

from qms.disk.damage import SUFFIX
from qms.disk.disk import Disk


class FeatureFile(ABC):
    """A file or folder below `.qms/` that belongs to one feature."""

    place: ClassVar[str]
    """Its name below `.qms/`."""
    is_cache: ClassVar[bool]
    """Whether it can be deleted without losing a memory."""
    in_backups: ClassVar[bool]
    """Whether backups include it."""

    @abstractmethod
    def __init__(self, disk: Disk, path: Path) -> None:
        """Open the file or folder at this path."""

    @abstractmethod
    def forget(self, entry_id: str) -> None:
        """Remove an entry's data from it."""


Declared = tuple[type[FeatureFile], ...]

SavedFeatures = dict[str, dict[str, bytes]]
"""The files that a backup includes: by place, then by path below it; a plain file has the path ".".
A place that was empty is named too, so that a restore empties it again."""

T = TypeVar("T", bound=FeatureFile)


class FeatureFiles:
    """The feature files of one store, opened at first use; any thread may call any method."""

    def __init__(self, disk: Disk, folder: Path, declared: Declared = ()) -> None:
        self._disk = disk
        self._folder = folder
        self._declared = declared
        self._opened: dict[type[FeatureFile], FeatureFile] = {}
        self._lock = threading.Lock()

    def get(self, kind: type[T]) -> T:
        """Return the file of a feature; ask for it at each use, since a restore opens it anew."""
        with self._lock:
            if kind not in self._opened:
                self._opened[kind] = kind(self._disk, self._folder / kind.place)
            found = self._opened[kind]
        assert isinstance(found, kind)
        return found

    def forget(self, entry_id: str) -> None:
        """Remove an entry's data from all declared files."""
        for kind in self._declared:
            self.get(kind).forget(entry_id)

    def beside(self, own_folder: Path) -> "FeatureFiles":
        """Return the same declared files of another copy of the store."""
        return FeatureFiles(self._disk, own_folder, self._declared)

    def folders(self) -> tuple[Path, ...]:
        """Return the declared places that are folders now."""
        places = (self._folder / kind.place for kind in self._declared)
        return tuple(place for place in places if place.is_dir())

    def saved(self) -> SavedFeatures:
        """Return the content of the files that backups include.

        Raises:
            OSError: one of them cannot be read.
        """
        return {
            kind.place: {
                path.relative_to(self._folder / kind.place).as_posix(): self._disk.read(path)
                for path in files_at(self._folder / kind.place)
            }
            for kind in self._declared
            if kind.in_backups
        }

    def put_back(self, saved: SavedFeatures) -> None:
        """Replace declared files by saved ones; a place that was not saved stays as it is.

        Raises:
            OSError: some are not replaced; another call does the rest.
        """
        with self._lock:
            for kind in self._declared:
                if kind.place in saved:
                    self._opened.pop(kind, None)
                    self._replace(self._folder / kind.place, saved[kind.place])

    def _replace(self, place: Path, contents: dict[str, bytes]) -> None:
        wanted = {place / path: data for path, data in contents.items()}
        for path in files_at(place):
            if path not in wanted:
                self._disk.remove(path)
        for path, data in wanted.items():
            self._disk.make_folder(path.parent)
            self._disk.put(path, data)


def find_fault(kind: type[FeatureFile], disk: Disk, own_folder: Path) -> str | None:
    """Return why a feature's file cannot be used or was replaced, or None if it is in order."""
    place = own_folder / kind.place
    try:
        for path in [*files_at(place), place.with_name(place.name + SUFFIX)]:
            if path.name.endswith(SUFFIX) and path.exists():
                return f"{path} is damaged and was set aside"
            if path.exists():
                disk.read(path)
        if place.exists() and not (place.is_file() or place.is_dir()):
            return f"{place} is neither a file nor a folder"
    except OSError as error:
        return f"{place} cannot be read: {error.strerror or error}"
    return None


def files_at(place: Path) -> Iterator[Path]:
    """Yield the file at a place, or the files below it if it is a folder, in order."""
    paths = sorted(place.rglob("*")) if place.is_dir() else [place]
    return (path for path in paths if path.is_file())
