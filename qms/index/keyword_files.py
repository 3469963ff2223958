"""What lies beside tantivy's files: which state they hold, and a checksum of each.

Tantivy opens a file with a flipped byte without a word, so nothing is opened that does not match.
"""

import zlib
from pathlib import Path

import msgspec

from qms.fsio.disk import Disk
from qms.index.keyword_segments import Summary

FORMAT = 1
"""Raised whenever the same text would give other terms, or a file means something else."""

MANIFEST = "keyword.json"

_CHUNK_BYTES = 1 << 20
_NOT_LISTED = (MANIFEST, MANIFEST + ".tmp")


class FileSum(msgspec.Struct, frozen=True, gc=False):
    """How long a file is and its CRC-32."""

    size: int
    crc: int


class Manifest(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What the files are, up to which change they go, and how each one reads."""

    format: int
    schema: str
    sequence: int
    summary: Summary
    files: dict[str, FileSum]


class _Sealed(msgspec.Struct, frozen=True):
    crc: int
    content: msgspec.Raw


class RefusedError(Exception):
    """The folder holds no index that may be trusted; the message says why."""


def write_manifest(folder: Path, manifest: Manifest, disk: Disk) -> None:
    """Put the manifest in place, sealed with its own checksum."""
    content = msgspec.json.encode(manifest)
    sealed = _Sealed(zlib.crc32(content), msgspec.Raw(content))
    disk.put(folder / MANIFEST, msgspec.json.encode(sealed))


def read_manifest(folder: Path, schema: str, disk: Disk) -> Manifest:
    """Return the manifest of a folder whose files are all as it says.

    Raises:
        RefusedError: something is missing, older or not as it was written.
    """
    try:
        sealed = msgspec.json.decode(disk.read(folder / MANIFEST), type=_Sealed)
        if zlib.crc32(bytes(sealed.content)) != sealed.crc:
            raise RefusedError(f"{MANIFEST} does not match its checksum")
        manifest = msgspec.json.decode(sealed.content, type=Manifest)
    except FileNotFoundError:
        raise RefusedError(f"{MANIFEST} is missing") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RefusedError(f"{MANIFEST} cannot be read: {error}") from error
    if manifest.format != FORMAT:
        raise RefusedError(f"format {manifest.format} is not {FORMAT}")
    if manifest.schema != schema:
        raise RefusedError("the fields are not those of this version")
    found = sum_files(folder)
    for name in sorted({*manifest.files, *found}):
        if found.get(name) != manifest.files.get(name):
            raise RefusedError(f"{name} does not match its checksum")
    return manifest


def sum_files(folder: Path, known: dict[str, FileSum] | None = None) -> dict[str, FileSum]:
    """Return the sums of tantivy's files; segment files never change, so a known one stands."""
    sums: dict[str, FileSum] = {}
    for path in sorted(folder.iterdir()):
        if path.name in _NOT_LISTED or path.suffix == ".lock":
            continue
        before = (known or {}).get(path.name)
        is_final = path.suffix != ".json"
        sums[path.name] = before if before is not None and is_final else _sum(path)
    return sums


def _sum(path: Path) -> FileSum:
    size, crc = 0, 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            size += len(chunk)
            crc = zlib.crc32(chunk, crc)
    return FileSum(size, crc)


def empty_folder(folder: Path, disk: Disk) -> None:
    """Make the folder, without any file of an index in it."""
    disk.make_folder(folder)
    for path in folder.iterdir():
        if path.is_file():
            disk.remove(path)
