"""`indexes/manifest.json`: what the index files of a store are, and what decides their use.

It names the format, the model and dimension of the vectors, counts, the journal sequence up to
which the files go, and the sha256 of each of them. Nothing that it does not vouch for is opened.
The words and the vectors are written apart, each with the files in place first and the manifest
after them; a seal over its own content makes a damaged manifest one that vouches for nothing.
"""

import hashlib
import logging
import threading
from pathlib import Path

import msgspec

from qms.fsio.disk import Disk, FileIdentity
from qms.index.keyword_summary import Summary
from qms.index.seal import seal, unseal

log = logging.getLogger(__name__)

MANIFEST_NAME = "manifest.json"
FORMAT = 1
"""Of the manifest itself; words and vectors have formats of their own."""

_CHUNK_BYTES = 1 << 20


class FileSum(msgspec.Struct, frozen=True, rename="camel"):
    """The length and sha256 of a file, and what it looked like from outside when it was summed."""

    size: int
    sha256: str
    mtime_ns: int = 0
    inode: int = 0

    @property
    def identity(self) -> FileIdentity:
        """Return what the file looked like."""
        return FileIdentity(self.size, self.mtime_ns, self.inode)


class WordsPart(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The files of the keyword index, and up to which change they go."""

    format: int
    schema: str
    sequence: int
    entries: int
    summary: Summary
    retimed: list[str] = []
    """Entries whose time of change is not the one in their line."""
    files: dict[str, FileSum]


class VectorsPart(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The file of the vectors: it is one of `files`, of which there are two during a swap."""

    format: int
    model: str
    dimension: int
    sequence: int
    entries: int
    pieces: int
    files: tuple[FileSum, ...]


class ColumnsPart(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The file of the columns, and a sum of the lines that they are of."""

    format: int
    lines: str
    file: FileSum


class Manifest(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What stands in the manifest; a part that is not there has to be made."""

    format: int = FORMAT
    words: WordsPart | None = None
    vectors: VectorsPart | None = None
    columns: ColumnsPart | None = None


class _Format(msgspec.Struct, frozen=True):
    format: int


class ManifestFile:
    """The manifest of one store; the one place that writes it."""

    def __init__(self, path: Path, disk: Disk) -> None:
        self._path = path
        self._disk = disk
        self._lock = threading.Lock()
        self.refused: str | None = None
        """Why what was found is not used."""
        self._content = self._read()

    @classmethod
    def beside(cls, path: Path, disk: Disk) -> "ManifestFile":
        """Return the manifest in the folder of an index file."""
        return cls(path.with_name(MANIFEST_NAME), disk)

    @property
    def words(self) -> WordsPart | None:
        """Return what is said of the keyword index."""
        return self._content.words

    @property
    def vectors(self) -> VectorsPart | None:
        """Return what is said of the vectors."""
        return self._content.vectors

    @property
    def columns(self) -> ColumnsPart | None:
        """Return what is said of the columns."""
        return self._content.columns

    def put_words(self, part: WordsPart | None) -> None:
        """Vouch for these files of words, or for none.

        Raises:
            OSError: what stood there stands.
        """
        with self._lock:
            self._write(msgspec.structs.replace(self._content, words=part))

    def put_vectors(self, part: VectorsPart | None) -> None:
        """Vouch for this file of vectors, or for none.

        Raises:
            OSError: what stood there stands.
        """
        with self._lock:
            self._write(msgspec.structs.replace(self._content, vectors=part))

    def put_columns(self, part: ColumnsPart | None) -> None:
        """Vouch for this file of columns, or for none.

        Raises:
            OSError: what stood there stands.
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
        log.warning("manifest of the indexes refused", extra={"reason": self.refused})
        return Manifest()


def _opened(data: bytes) -> Manifest:
    """Return a manifest whose seal is whole; raise ValueError for any other."""
    content = unseal(data)
    found = msgspec.json.decode(content, type=_Format).format
    if found != FORMAT:
        raise ValueError(f"format {found}, this version reads {FORMAT}")
    return msgspec.json.decode(content, type=Manifest)


def sum_file(path: Path, disk: Disk) -> FileSum:
    """Return the sum of a file as it is now.

    Raises:
        OSError: it cannot be read.
    """
    identity = disk.identity(path)
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
            size += len(chunk)
    inode, mtime_ns = (identity.inode, identity.mtime_ns) if identity else (0, 0)
    return FileSum(size, digest.hexdigest(), mtime_ns, inode)
