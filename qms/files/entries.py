"""`entries.jsonl` on disk: reading it whole, and putting a new one in its place.

A person may save the file at any moment. A swap therefore exchanges the two files in one step and
looks at the one that came out; and the file that was replaced is watched for a while, since an
editor that had it open may still write into it.
"""

import hashlib
import logging
import stat
from collections.abc import Iterable
from pathlib import Path

import msgspec

from qms.fsio.disk import Disk, FileIdentity

log = logging.getLogger(__name__)

_NEW_FILE_MODE = 0o600


class FileState(msgspec.Struct, frozen=True):
    """The content of the file and what it looked like from outside; None when there is none."""

    data: bytes | None
    identity: FileIdentity | None


class Staged(msgspec.Struct, frozen=True):
    """A file that is ready to be put in place; its identity stays the same when it is."""

    digest: str
    identity: FileIdentity | None


class Replaced(msgspec.Struct):
    """A file that a swap took out of its place; an editor may still have it open."""

    path: Path
    identity: FileIdentity | None


class EntriesFile:
    """The file that people edit, and the server's copies around it."""

    def __init__(self, disk: Disk, folder: Path, own_folder: Path) -> None:
        self._disk = disk
        self.path = folder / "entries.jsonl"
        self._staged = folder / "entries.jsonl.tmp"
        self._own_folder = own_folder
        self._swaps = 0
        self.replaced: Replaced | None = None
        """What the last swap took out."""

    def identity(self) -> FileIdentity | None:
        """Return what the file looks like from outside."""
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
        """Write the next file and its copy, both under temporary names; return what it is."""
        digest = hashlib.sha256()
        mode = self._mode()
        self._disk.remove(self._staged)
        self._disk.remove(copy_staged)
        first = self._disk.open(self._staged, create=True, mode=mode)
        try:
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
        except BaseException:
            self._disk.close(first)
            self._disk.remove(self._staged)
            self._disk.remove(copy_staged)
            raise
        self._disk.close(first)
        return Staged(digest.hexdigest(), self._disk.identity(self._staged))

    def drop_staged(self) -> None:
        """Give up the staged file."""
        self._disk.remove(self._staged)

    def keep(self) -> None:
        """Give up the staged file, which is as the one in place, and make that one last.

        Raises:
            OSError: the file in place may be one whose swap failed on its way to the disk.
        """
        self.drop_staged()
        self.settle()

    def settle(self) -> None:
        """Make the file in place last, whoever put it there.

        Raises:
            OSError: a power loss may bring the one before it back.
        """
        self._disk.sync_folder(self.path.parent)

    def swap(self, expected: FileIdentity | None) -> bool:
        """Put the staged file in place unless somebody saved another one meanwhile.

        Raises:
            OSError: the file may or may not be in place; the next look at it tells.
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
        """Return a replaced file's content when somebody wrote into it since the last look."""
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
        """Clear away the replaced files that another process watched."""
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
        """Put a stranger's save that met a fold aside and return where it is."""
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
        """Keep the file that came out of the exchange, or undo it when it is not the expected."""
        if self._disk.identity(self._staged) == expected:
            previous = self._previous()
            self._disk.rename(self._staged, previous)
            self.replaced = Replaced(previous, expected)
            return True
        log.info("save during a fold", extra={"file": self.path.name})
        self._undo_exchange(ours)
        return False

    def _undo_exchange(self, ours: FileIdentity | None) -> None:
        """Put the save back that an exchange took out; a save that comes meanwhile goes first."""
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

    def _mode(self) -> int:
        try:
            return stat.S_IMODE(self.path.stat().st_mode)
        except FileNotFoundError:
            return _NEW_FILE_MODE
