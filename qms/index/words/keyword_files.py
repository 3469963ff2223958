"""Checks tantivy's files against the manifest before they are opened.

Tantivy opens a file with a flipped byte without an error, so contents are compared with their
sha256. A small index is checked completely before it is opened. Of a large one, files whose size,
time and inode are unchanged are opened first and checked later, by `find_damage`; all others are
checked before.
"""

from pathlib import Path

from qms.disk.disk import Disk
from qms.index.manifest import FileSum, ManifestFile, WordsPart, sum_file

FORMAT = 1
"""Increased when the same text would give other terms, or the meaning of a file changes."""

CHECKED_AT_ONCE_BYTES = 64 << 20
"""An index up to this size is checked completely before it is opened: at most 0.1 s."""

Unchecked = list[tuple[Path, FileSum]]
"""Files that are in use and not checked yet."""


class RefusedError(Exception):
    """The folder holds no valid index; the message says why."""


def check_files(
    folder: Path, schema: str, book: ManifestFile, disk: Disk
) -> tuple[WordsPart, Unchecked]:
    """Return the manifest's part for a valid folder, and the files that are still to be checked.

    Raises:
        RefusedError: a file is missing, outdated or damaged.
    """
    part = book.words
    if part is None:
        raise RefusedError(book.refused or "the manifest does not list it")
    if part.format != FORMAT:
        raise RefusedError(f"format {part.format} is not {FORMAT}")
    if part.schema != schema:
        raise RefusedError("the fields are not those of this version")
    names = set(_names(folder))
    for name in sorted(names ^ part.files.keys()):
        raise RefusedError(f"{name} is {'not in the manifest' if name in names else 'missing'}")
    is_small = sum(one.size for one in part.files.values()) <= CHECKED_AT_ONCE_BYTES
    unchecked: Unchecked = []
    for name, expected in sorted(part.files.items()):
        path = folder / name
        if not is_small and _is_final(path) and disk.identity(path) == expected.identity:
            unchecked.append((path, expected))
        elif not _fits(path, expected, disk):
            raise RefusedError(f"{name} does not match its checksum")
    return part, unchecked


def find_damage(unchecked: Unchecked, disk: Disk) -> str | None:
    """Check one more file; return its name if it is damaged."""
    path, expected = unchecked.pop()
    try:
        return None if _fits(path, expected, disk) else path.name
    except FileNotFoundError:
        return None  # a later commit deleted it


def sum_files(
    folder: Path, disk: Disk, known: dict[str, FileSum] | None = None
) -> dict[str, FileSum]:
    """Return the hashes of tantivy's files; those of segments never change and are reused."""
    sums: dict[str, FileSum] = {}
    for name in sorted(_names(folder)):
        before = (known or {}).get(name)
        is_known = before is not None and _is_final(folder / name)
        sums[name] = before if before and is_known else sum_file(folder / name, disk)
    return sums


def empty_folder(folder: Path, disk: Disk) -> None:
    """Make the folder, or delete all index files in it."""
    disk.make_folder(folder)
    for path in folder.iterdir():
        if path.is_file():
            disk.remove(path)


def _names(folder: Path) -> list[str]:
    if not folder.is_dir():
        return []
    return [path.name for path in folder.iterdir() if path.suffix != ".lock"]


def _is_final(path: Path) -> bool:
    """Say whether a file is a segment's: those are written once."""
    return path.suffix != ".json"


def _fits(path: Path, expected: FileSum, disk: Disk) -> bool:
    identity = disk.identity(path)
    if identity is not None and identity.size != expected.size:
        return False  # a file of another size need not be read
    found = sum_file(path, disk)
    return (found.size, found.sha256) == (expected.size, expected.sha256)
