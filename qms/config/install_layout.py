"""`layout.json`: the files of an installation, and the check for changed or missing ones."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from qms.disk.disk import Disk
from qms.disk.regular_files import read_regular, regular_reader
from qms.memory.errors import UNDECODABLE, InvalidInputError, NotFoundError
from qms.resources import LAYOUT_NAME

FORMAT = 1
WRITABLE = ("MemoryStores", "logs", "Backups", ".qms")
"""The folders that the service writes to, below the data folder."""

SETTINGS = "QuickMemoryServer.toml"
MADE_THERE = (LAYOUT_NAME, "uninstall.exe")
"""Files that the setup program creates on the machine; their content is not known in advance."""


class Item(msgspec.Struct, frozen=True):
    """One file as it was installed; its path is relative to the root and has slashes."""

    path: str
    size: int
    sha256: str


class Layout(msgspec.Struct, frozen=True, rename="camel"):
    """An installation: its files and its data folder."""

    version: str
    files: tuple[Item, ...]
    format: int = FORMAT
    data_root: str = ""
    """Where stores and configuration are; empty for the installation's own folder."""
    writable: tuple[str, ...] = WRITABLE


_decoder = msgspec.json.Decoder(Layout)


class Differences(msgspec.Struct, frozen=True, rename="camel"):
    """Paths that differ from the installed state."""

    changed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.changed or self.missing or self.extra)


def describe(root: Path, version: str) -> Layout:
    """Return the layout of a tree in its present state."""
    paths = sorted(set(_files(root)).difference(MADE_THERE))
    return Layout(version=version, files=tuple(_item(root, path) for path in paths))


def read_layout(root: Path) -> Layout:
    """Return the layout of an installation.

    Raises:
        NotFoundError: there is none.
        InvalidInputError: it cannot be read.
    """
    path = root / LAYOUT_NAME
    try:
        return _decoder.decode(read_regular(path))
    except FileNotFoundError:
        raise NotFoundError(f"{path} is missing: no program is installed there") from None
    except UNDECODABLE as error:
        raise InvalidInputError(f"{path} cannot be read: {error}: repair the program") from None


def write_layout(root: Path, layout: Layout, disk: Disk | None = None) -> None:
    """Write a layout into the folder that it describes."""
    text = msgspec.json.format(msgspec.json.encode(layout), indent=1) + b"\n"
    (disk or Disk()).put(root / LAYOUT_NAME, text, mode=0o644)


def data_folder(root: Path, layout: Layout) -> Path:
    """Return where the data of an installation is."""
    return Path(layout.data_root) if layout.data_root else root


def compare(root: Path, layout: Layout) -> Differences:
    """Read every file of an installation and return the differences."""
    known = {item.path: item for item in layout.files}
    there = {path for path in _files(root) if not _is_data(path, layout)}
    changed = [path for path, item in known.items() if path in there and _item(root, path) != item]
    return Differences(
        changed=tuple(changed),
        missing=tuple(path for path in known if path not in there),
        extra=tuple(sorted(there.difference(known, MADE_THERE))),
    )


def _is_data(path: str, layout: Layout) -> bool:
    top = path.split("/", maxsplit=1)[0]
    return top in layout.writable or top.startswith(SETTINGS)


def _item(root: Path, path: str) -> Item:
    with regular_reader(root / path) as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return Item(path=path, size=file.tell(), sha256=digest)


def _files(root: Path) -> Iterator[str]:
    for folder, _, names in os.walk(root):
        for name in names:
            yield Path(folder, name).relative_to(root).as_posix()
