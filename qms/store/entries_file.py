"""`entries.jsonl` on disk: reads it as a whole and replaces it atomically.

An editor may save the file at any moment. A swap therefore exchanges the two files in one step and
checks the one that came out. The replaced file is watched for a while, since an editor that had it
open may still write into it.
"""

import hashlib
import logging
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

import msgspec

from qms.disk.disk import Disk, FileIdentity
from qms.disk.permissions import resemble

log = logging.getLogger(__name__)


ENTRIES_NAME = "entries.jsonl"


class FileState(msgspec.Struct, frozen=True):
    """The content and identity of the file; both None when there is no file."""

    data: bytes | None
    identity: FileIdentity | None


class Staged(msgspec.Struct, frozen=True):
    """A file that is ready to be put in place; its identity does not change when it is."""

    digest: str
    identity: FileIdentity | None


class Replaced(msgspec.Struct):
    """A file that a swap replaced; an editor may still have it open."""

    path: Path
    identity: FileIdentity | None


class EntriesFile:
    """The file that people edit, and the server's copies around it."""

    def __init__(self, disk: Disk, folder: Path, own_folder: Path) -> None:
        self._disk = disk
        self.path = folder / ENTRIES_NAME
        self._staged = folder / "entries.jsonl.tmp"
        self._own_folder = own_folder
        self._swaps = 0
        self.replaced: Replaced | None = None
        """The file that the last swap replaced."""

    def identity(self) -> FileIdentity | None:
        """Return the identity of the file (size, time, inode), or None."""
        return self._disk.identity(self.path)

    def read(self) -> FileState | None:
        """Return the file's content, or None when it changed while it was read."""
        before = self.identity()
        if before is None:
            return FileState(None, None)
        try:
            data = self._disk.read(self.path)
        except FileNotFoundError:
            return None
        return FileState(data, before) if self.identity() == before else None

    def stage(self, chunks: Iterable[bytes], copy_staged: Path) -> Staged:
        """Write the next file and its copy, both under temporary names."""
        digest = hashlib.sha256()
        self._disk.remove(self._staged)
        self._disk.remove(copy_staged)
        first = self._disk.open(self._staged, create=True)
        with ExitStack() as undo:
            undo.callback(self._disk.remove, copy_staged)
            undo.callback(self._disk.remove, self._staged)
            undo.callback(self._disk.close, first)
            resemble(first, self.path)
            second = self._disk.open(copy_staged, create=True)
            try:
                for chunk in chunks:
                    digest.update(chunk)
                    self._disk.write_all(first, chunk)
                    self._disk.write_all(second, chunk)
                self._disk.sync(first)
                self._disk.sync(second)
            finally:
                self._disk.close(second)
            undo.pop_all()
        self._disk.close(first)
        return Staged(digest.hexdigest(), self._disk.identity(self._staged))

    def drop_staged(self) -> None:
        """Delete the staged file."""
        self._disk.remove(self._staged)

    def keep(self) -> None:
        """Delete the staged file, which equals the one in place, and make that one durable.

        Raises:
            OSError: the swap of the file in place may not be durable.
        """
        self.drop_staged()
        self.settle()

    def settle(self) -> None:
        """Make the name of the file in place durable.

        Raises:
            OSError: a power loss may bring the previous file back.
        """
        self._disk.sync_folder(self.path.parent)

    def swap(self, expected: FileIdentity | None) -> bool:
        """Put the staged file in place unless the file was saved since `expected` was read.

        Raises:
            OSError: the file may or may not be in place; the next reload finds out.
        """
        if self.identity() != expected:
            self.drop_staged()
            return False
        ours = self._disk.identity(self._staged)
        if expected is None or not self._disk.exchange(self._staged, self.path):
            self._link_previous(expected)
            self._disk.replace(self._staged, self.path)
        elif not self._keep_exchanged(expected, ours):
            return False
        self.settle()
        return True

    def written_late(self, replaced: Replaced) -> bytes | None:
        """Return a replaced file's content if it was written to since the last call."""
        now = self._disk.identity(replaced.path)
        if now is None or now == replaced.identity:
            return None
        data = self._disk.read(replaced.path)
        replaced.identity = now
        return data

    def forget(self, replaced: Replaced) -> None:
        """Stop watching a replaced file."""
        self._disk.remove(replaced.path)

    def forget_all(self) -> None:
        """Delete the replaced files that another process watched."""
        for path in self._own_folder.glob("previous-*.jsonl"):
            self._disk.remove(path)

    def left_over(self) -> bytes | None:
        """Return what an interrupted fold left under the temporary name, or None."""
        return self._disk.read(self._staged) if self._staged.exists() else None

    def keep_copy(self) -> Path:
        """Copy the file to the server's own folder, where nothing overwrites it."""
        kept = self._free_place()
        self._disk.copy(self.path, kept, sync=True)
        log.warning("file kept aside", extra={"file": kept.name})
        return kept

    def keep_left_over(self) -> Path:
        """Set aside a save that was found under the staged name, and return its path."""
        kept = self._free_place()
        self._disk.rename(self._staged, kept)
        log.warning("save kept aside", extra={"file": kept.name})
        return kept

    def _free_place(self) -> Path:
        for number in range(1, 1000):
            kept = self._own_folder / f"kept-{number}.jsonl"
            if not kept.exists():
                break
        return kept

    def _keep_exchanged(self, expected: FileIdentity, ours: FileIdentity | None) -> bool:
        """Keep the file that the exchange replaced, or undo the exchange if it is another one."""
        if self._disk.identity(self._staged) == expected:
            previous = self._previous()
            self._disk.rename(self._staged, previous)
            self.replaced = Replaced(previous, expected)
            return True
        log.info("save during a fold", extra={"file": self.path.name})
        self._undo_exchange(ours)
        return False

    def _undo_exchange(self, ours: FileIdentity | None) -> None:
        """Put back the save that an exchange replaced; a save made since then wins."""
        inside, outside = ours, self._disk.identity(self._staged)
        while True:
            self._disk.exchange(self._staged, self.path)
            found = self._disk.identity(self._staged)
            if found == inside:
                break
            inside, outside = outside, found
        if inside == ours:
            self.drop_staged()
        else:
            self.keep_left_over()

    def _link_previous(self, expected: FileIdentity | None) -> None:
        self.replaced = None
        if expected is None:
            return
        previous = self._previous()
        self._disk.remove(previous)
        try:
            previous.hardlink_to(self.path)
        except OSError:
            return  # a file system without links: nothing to watch
        self.replaced = Replaced(previous, expected)

    def _previous(self) -> Path:
        self._swaps += 1
        return self._own_folder / f"previous-{self._swaps}.jsonl"
