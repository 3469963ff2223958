"""`indexes/manifest.json`: lists the index files of a store and decides which are opened.

It has the format, the model and dimension of the vectors, counts, the journal sequence that the
files include, and the sha256 of each file. A file that it does not list is not opened. Keyword
files and vectors are written separately, each time the files first and the manifest after them. The
manifest has a checksum of its own; a damaged manifest lists nothing.
"""

import hashlib
import logging
import threading
from pathlib import Path

import msgspec

from qms.disk.disk import Disk, FileIdentity
from qms.index.checked_json import seal, unseal
from qms.index.words.file_summary import Summary

log = logging.getLogger(__name__)

MANIFEST_NAME = "manifest.json"
FORMAT = 1
"""The format of the manifest itself; keyword files and vectors have their own."""

_CHUNK_BYTES = 1 << 20


class FileSum(msgspec.Struct, frozen=True, rename="camel"):
    """The size and sha256 of a file, and its time and inode when the hash was computed."""

    size: int
    sha256: str
    mtime_ns: int = 0
    inode: int = 0

    @property
    def identity(self) -> FileIdentity:
        """Return the identity of the file."""
        return FileIdentity(self.size, self.mtime_ns, self.inode)


class WordsPart(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The files of the keyword index, and the last sequence that they include."""

    format: int
    schema: str
    sequence: int
    entries: int
    summary: Summary
    retimed: list[str] = []
    """Entries whose update time differs from the one in their line."""
    files: dict[str, FileSum]


class VectorsPart(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The vector file; it is one of `files`, of which there are two during a swap."""

    format: int
    model: str
    dimension: int
    sequence: int
    entries: int
    pieces: int
    files: tuple[FileSum, ...]


class ColumnsPart(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The column file, and a hash of the lines that it was made from."""

    format: int
    lines: str
    file: FileSum


class Manifest(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The content of the manifest; a missing part has to be built."""

    format: int = FORMAT
    words: WordsPart | None = None
    vectors: VectorsPart | None = None
    columns: ColumnsPart | None = None


class _Format(msgspec.Struct, frozen=True):
    format: int


_format_decoder = msgspec.json.Decoder(_Format)
_decoder = msgspec.json.Decoder(Manifest)


class ManifestFile:
    """The manifest of one store; only this class writes it."""

    def __init__(self, path: Path, disk: Disk) -> None:
        self._path = path
        self._disk = disk
        self._lock = threading.Lock()
        self.refused: str | None = None
        """Why the manifest on disk is not used."""
        self._content = self._read()

    @classmethod
    def beside(cls, path: Path, disk: Disk) -> "ManifestFile":
        """Return the manifest in the folder of an index file."""
        return cls(path.with_name(MANIFEST_NAME), disk)

    @property
    def words(self) -> WordsPart | None:
        """Return the part of the keyword index."""
        return self._content.words

    @property
    def vectors(self) -> VectorsPart | None:
        """Return the part of the vectors."""
        return self._content.vectors

    @property
    def columns(self) -> ColumnsPart | None:
        """Return the part of the columns."""
        return self._content.columns

    def put_words(self, part: WordsPart | None) -> None:
        """List these keyword files, or none.

        Raises:
            OSError: the manifest is unchanged.
        """
        with self._lock:
            self._write(msgspec.structs.replace(self._content, words=part))

    def put_vectors(self, part: VectorsPart | None) -> None:
        """List this vector file, or none.

        Raises:
            OSError: the manifest is unchanged.
        """
        with self._lock:
            self._write(msgspec.structs.replace(self._content, vectors=part))

    def put_columns(self, part: ColumnsPart | None) -> None:
        """List this column file, or none.

        Raises:
            OSError: the manifest is unchanged.
        """
        with self._lock:
            self._write(msgspec.structs.replace(self._content, columns=part))

    def _write(self, manifest: Manifest) -> None:
        self._disk.make_folder(self._path.parent)
        self._disk.put(self._path, seal(msgspec.json.encode(manifest)))
        self._content = manifest

    def _read(self) -> Manifest:
        try:
            return _opened(self._disk.read(self._path))
        except FileNotFoundError:
            self.refused = f"{MANIFEST_NAME} is missing"
            return Manifest()
        except (OSError, ValueError) as error:
            self.refused = f"{MANIFEST_NAME} cannot be used: {error}"
        log.warning("index manifest refused", extra={"reason": self.refused})
        return Manifest()


def _opened(data: bytes) -> Manifest:
    """Return a manifest after checking checksum and format; raise ValueError if one is wrong."""
    content = unseal(data)
    found = _format_decoder.decode(content).format
    if found != FORMAT:
        raise ValueError(f"format {found}, this version reads {FORMAT}")
    return _decoder.decode(content)


def sum_file(path: Path, disk: Disk) -> FileSum:
    """Return size and sha256 of a file as it is now.

    Raises:
        OSError: it cannot be read.
    """
    identity = disk.identity(path)
    digest, size = hashlib.sha256(), 0
    with disk.reader(path) as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
            size += len(chunk)
    inode, mtime_ns = (identity.inode, identity.mtime_ns) if identity else (0, 0)
    return FileSum(size, digest.hexdigest(), mtime_ns, inode)
