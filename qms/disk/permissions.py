"""File permissions of a root: readable by its owner alone, or by the owner and one group.

Libraries create files by the umask of the process, so it is set while a root is open. Windows has
no mode bits: there the access rights that the installer gave to the folders apply.
"""

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path

import msgspec

from qms.memory.errors import InvalidInputError

MOST_LOOKED_AT = 10_000
"""At most this many paths are checked for exposed files; a closed root needs one."""


class Rights(msgspec.Struct, frozen=True):
    """The permissions of new files and folders: none for others, and a group only if named."""

    group: int | None = None

    @property
    def file_mode(self) -> int:
        """Return the mode of a new file."""
        return 0o600 if self.group is None else 0o660

    @property
    def folder_mode(self) -> int:
        """Return the mode of a new folder; files in it inherit the group."""
        return 0o700 if self.group is None else 0o2770

    @property
    def umask(self) -> int:
        """Return the umask: bits that no new file may have."""
        return 0o077 if self.group is None else 0o007


def rights_of(group: str) -> Rights:
    """Return the rights for a group by its name; for the owner alone when it is empty.

    Raises:
        InvalidInputError: this machine has no such group.
    """
    if sys.platform == "win32" or not group:
        return Rights()
    import grp

    try:
        return Rights(grp.getgrnam(group).gr_gid)
    except KeyError:
        raise InvalidInputError(
            f"this machine has no group {group}: create it, or leave the setting empty"
        ) from None


@contextmanager
def private_umask() -> Iterator[None]:
    """Make every file that this process creates inside the block private to its owner."""
    before = os.umask(Rights().umask)
    try:
        yield
    finally:
        os.umask(before)


def make_folder(path: Path, rights: Rights) -> None:
    """Create a folder and its parents with these permissions."""
    missing = [one for one in (path, *path.parents) if not one.exists()]
    for one in reversed(missing):
        with suppress(FileExistsError):
            one.mkdir(mode=0o700)
            give(one, rights)
    path.mkdir(exist_ok=True)  # raises for a file in its place


def give(path: Path, rights: Rights) -> None:
    """Set the group and mode of a file or folder that this process has created."""
    if sys.platform == "win32" or rights.group is None:
        return
    with suppress(PermissionError):  # not a member of the group: the owner keeps it
        os.chown(path, -1, rights.group)
    path.chmod(rights.folder_mode if path.is_dir() else rights.file_mode)


def resemble(descriptor: int, path: Path) -> None:
    """Give an open file the mode and the group of the file that it will replace, if any."""
    if sys.platform == "win32":
        return
    with suppress(OSError):
        model, made = path.stat(), os.fstat(descriptor)
        if model.st_gid != made.st_gid:
            with suppress(PermissionError):
                os.fchown(descriptor, -1, model.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(model.st_mode) & 0o777)


def find_exposed(folders: Iterable[Path], rights: Rights) -> Path | None:
    """Return a path in these folders that other accounts can read, or None."""
    if sys.platform == "win32":
        return None
    paths = (path for folder in folders if _is_reachable(folder) for path in _reachable(folder))
    found = islice(paths, MOST_LOOKED_AT)
    return next((path for path in found if _is_open(path, rights)), None)


def tightening(root: Path, group: str) -> str:
    """Return the shell command that removes the permissions of all others."""
    if group:
        return f"chgrp -R {group} '{root}' && chmod -R g+rwX,o-rwx '{root}'"
    return f"chmod -R go-rwx '{root}'"


def _reachable(path: Path) -> Iterator[Path]:
    """Yield a path and the paths below it that other accounts can reach."""
    try:
        yield path
        mode = path.lstat().st_mode
        if stat.S_ISDIR(mode) and mode & 0o011:
            for one in path.iterdir():
                yield from _reachable(one)
    except OSError:
        return


def _is_reachable(folder: Path) -> bool:
    try:
        return all(parent.stat().st_mode & 0o011 for parent in folder.absolute().parents)
    except OSError:
        return False


def _is_open(path: Path, rights: Rights) -> bool:
    try:
        status = path.lstat()
    except OSError:
        return False
    allowed = 0o070 if status.st_gid == rights.group else 0
    return not stat.S_ISLNK(status.st_mode) and bool(status.st_mode & 0o044 & ~allowed)
