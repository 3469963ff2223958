"""Which of tantivy's files may be opened: those that the manifest vouches for.

Tantivy opens a file with a flipped byte without a word, so contents are compared with their sha256.
A small index is compared as a whole before it is opened. Of a large one, files that look from
outside as they did when they were summed are opened first and compared later, by whoever calls
`find_damage`; all others are compared before.
"""

from pathlib import Path

from qms.fsio.disk import Disk
from qms.index.manifest import FileSum, ManifestFile, WordsPart, sum_file

FORMAT = 1
"""Raised whenever the same text would give other terms, or a file means something else."""

CHECKED_AT_ONCE_BYTES = 64 << 20
"""An index up to this size is read whole before it is opened: a tenth of a second at most."""

Unchecked = list[tuple[Path, FileSum]]
"""Files that are in use and whose content has still to be compared."""


class RefusedError(Exception):
    """The folder holds no index that may be trusted; the message says why."""


def check_files(
    folder: Path, schema: str, book: ManifestFile, disk: Disk
) -> tuple[WordsPart, Unchecked]:
    """Return what the manifest says of a folder that is as it says, and what is left to compare.

    Raises:
        RefusedError: something is missing, older or not as it was written.
    """
    part = book.words
    if part is None:
        raise RefusedError(book.refused or "the manifest does not vouch for it")
    if part.format != FORMAT:
        raise RefusedError(f"format {part.format} is not {FORMAT}")
    if part.schema != schema:
        raise RefusedError("the fields are not those of this version")
    names = set(_names(folder))
    for name in sorted(names ^ part.files.keys()):
        raise RefusedError(f"{name} is {'not known' if name in names else 'missing'}")
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
    """Compare one more file; return its name when it is not what it should be."""
    path, expected = unchecked.pop()
    try:
        return None if _fits(path, expected, disk) else path.name
    except FileNotFoundError:
        return None  # a later commit had no more use for it


def sum_files(
    folder: Path, disk: Disk, known: dict[str, FileSum] | None = None
) -> dict[str, FileSum]:
    """Return the sums of tantivy's files; segment files never change, so a known one stands."""
    sums: dict[str, FileSum] = {}
    for name in sorted(_names(folder)):
        before = (known or {}).get(name)
        is_known = before is not None and _is_final(folder / name)
        sums[name] = before if before and is_known else sum_file(folder / name, disk)
    return sums


def empty_folder(folder: Path, disk: Disk) -> None:
    """Make the folder, without any file of an index in it."""
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
    found = sum_file(path, disk)
    return (found.size, found.sha256) == (expected.size, expected.sha256)
