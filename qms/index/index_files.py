"""The index files of a store: opened according to the manifest, saved, or kept in RAM.

After `open_words` searches work even if the disk fails: if no file can be written, the keyword
index is kept in RAM (`in_memory` says why) until the folder accepts writes again.
"""

import logging
from pathlib import Path

from qms.disk.disk import Disk
from qms.index.columns.column_file import ColumnFile, Marks, SavedColumns
from qms.index.manifest import MANIFEST_NAME, ManifestFile
from qms.index.slots import Slots
from qms.index.vectors.blocks import Refusal
from qms.index.vectors.vector_file import VectorFile
from qms.index.vectors.vector_index import VectorIndex
from qms.index.words.keyword_index import KeywordIndex
from qms.memory.ports import Embedder

log = logging.getLogger(__name__)

WORDS_FOLDER = "tantivy"
VECTORS_FILE = "vectors.dat"
COLUMNS_FILE = "columns.dat"


class IndexFiles:
    """The folder `indexes` of one store; without a folder the indexes are in RAM only."""

    def __init__(self, folder: Path | None, disk: Disk) -> None:
        self._folder = folder
        self._disk = disk
        self._manifest = ManifestFile(folder / MANIFEST_NAME, disk) if folder else None
        self._columns: ColumnFile | None = None
        if folder is not None and self._manifest is not None:
            self._columns = ColumnFile(folder / COLUMNS_FILE, disk, self._manifest)
        self._vectors: VectorFile | None = None
        self.in_memory: str | None = None

    @property
    def has_words(self) -> bool:
        """Say whether the keyword files hold any entry."""
        part = self._manifest.words if self._manifest is not None else None
        return part is not None and part.entries > 0

    def drop_words(self) -> None:
        """Invalidate the keyword files, so that this process or the next rebuilds them."""
        if self._manifest is None or self._manifest.words is None:
            return
        try:
            self._manifest.put_words(None)
        except OSError as error:
            log.warning("keyword files not dropped", extra={"reason": error.strerror})

    def open_words(self) -> KeywordIndex:
        """Return the keyword index on disk, a new empty one, or one in RAM."""
        self.in_memory = None
        if self._folder is None:
            return KeywordIndex.open(None, disk=self._disk)
        try:
            return KeywordIndex.open(
                self._folder / WORDS_FOLDER, disk=self._disk, book=self._manifest
            )
        except (OSError, ValueError) as error:
            self.in_memory = getattr(error, "strerror", None) or str(error)
            log.warning("keyword index kept in memory", extra={"reason": self.in_memory})
            return KeywordIndex.open(None, disk=self._disk)

    def takes_writes(self) -> bool:
        """Say whether the folder can be written now."""
        if self._folder is None:
            return False
        probe = self._folder / "probe.tmp"
        try:
            self._disk.make_folder(probe.parent)
            self._disk.write_new(probe, [b"probe"])
            self._disk.remove(probe)
        except OSError:
            return False
        return True

    def open_columns(self, marks: Marks) -> SavedColumns | None:
        """Return the columns of lines with these marks, if they are on disk."""
        return self._columns.read(marks) if self._columns else None

    def save_columns(self, marks: Marks, saved: SavedColumns) -> None:
        """Write the columns to their file.

        Raises:
            OSError: the file is invalid or unchanged.
        """
        if self._columns is not None:
            self._columns.write(marks, saved)

    def has_columns(self, marks: Marks) -> bool:
        """Say whether the columns on disk match these marks; True without a folder."""
        return self._columns is None or self._columns.is_of(marks)

    def open_vectors(self, embedder: Embedder, slots: Slots) -> VectorIndex:
        """Return the vectors on disk, or an empty index of this model."""
        self._vectors = self._vector_file(embedder)
        if self._vectors is not None:
            loaded = VectorIndex.load(self._vectors, slots=slots)
            if not isinstance(loaded, Refusal):
                return loaded
            log.info("rebuilding vectors", extra={"reason": loaded.reason})
        return VectorIndex(embedder.dimension, embedder.model_id, slots=slots)

    def new_vectors(self, embedder: Embedder, slots: Slots) -> VectorIndex:
        """Return an empty index; its first save replaces the file."""
        self._vectors = self._vector_file(embedder)
        return VectorIndex(embedder.dimension, embedder.model_id, slots=slots)

    def save_vectors(self, vectors: VectorIndex, *, sequence: int, is_last: bool = False) -> None:
        """Write unsaved vectors to the file.

        Raises:
            OSError: the file is unchanged.
        """
        if self._vectors is not None:
            vectors.save(self._vectors, sequence=sequence, is_last=is_last)

    def _vector_file(self, embedder: Embedder) -> VectorFile | None:
        if self._folder is None or self._manifest is None:
            return None
        return VectorFile(
            self._folder / VECTORS_FILE,
            self._disk,
            dimension=embedder.dimension,
            model_id=embedder.model_id,
            book=self._manifest,
        )
