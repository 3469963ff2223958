"""Where the indexes of a store lie: opened as the manifest says, saved, and in RAM if need be.

After `open_words` something serves, whatever the disk says: where no file can be made, the words
are kept in RAM (`in_memory` says why) until the folder takes writes again.
"""

import logging
from pathlib import Path

from qms.domain.ports import Embedder
from qms.fsio.disk import Disk
from qms.index.column_file import ColumnFile, Marks, SavedColumns
from qms.index.keyword import KeywordIndex
from qms.index.manifest import MANIFEST_NAME, ManifestFile
from qms.index.slots import Slots
from qms.index.vector import VectorIndex
from qms.index.vector_blocks import Refusal
from qms.index.vector_file import VectorFile

log = logging.getLogger(__name__)

WORDS_FOLDER = "tantivy"
VECTORS_FILE = "vectors.dat"
COLUMNS_FILE = "columns.dat"


class IndexFiles:
    """The folder `indexes` of one store, or nothing but RAM when there is none."""

    def __init__(self, folder: Path | None, disk: Disk) -> None:
        self._folder = folder
        self._disk = disk
        self._book = ManifestFile(folder / MANIFEST_NAME, disk) if folder else None
        self._columns: ColumnFile | None = None
        if folder is not None and self._book is not None:
            self._columns = ColumnFile(folder / COLUMNS_FILE, disk, self._book)
        self._vectors: VectorFile | None = None
        self.in_memory: str | None = None

    @property
    def has_words(self) -> bool:
        """Say whether there are words of any entry."""
        words = self._book.words if self._book is not None else None
        return words is not None and words.entries > 0

    def drop_words(self) -> None:
        """Have the words made anew, by this process or the next."""
        if self._book is None or self._book.words is None:
            return
        try:
            self._book.put_words(None)
        except OSError as error:
            log.warning("keyword files not dropped", extra={"reason": error.strerror})

    def open_words(self) -> KeywordIndex:
        """Return the keyword index as it is on disk, an empty one there, or one in RAM."""
        self.in_memory = None
        if self._folder is None:
            return KeywordIndex.open(None, disk=self._disk)
        try:
            return KeywordIndex.open(self._folder / WORDS_FOLDER, disk=self._disk, book=self._book)
        except (OSError, ValueError) as error:
            self.in_memory = getattr(error, "strerror", None) or str(error)
            log.warning("words are kept in memory", extra={"reason": self.in_memory})
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
        """Bring columns into their file.

        Raises:
            OSError: what is in it counts no more, or as before.
        """
        if self._columns is not None:
            self._columns.write(marks, saved)

    def has_columns(self, marks: Marks) -> bool:
        """Say whether the columns on disk are of lines with these marks, or can be nowhere."""
        return self._columns is None or self._columns.is_of(marks)

    def open_vectors(self, embedder: Embedder, slots: Slots) -> VectorIndex:
        """Return the vectors as they are on disk, or none of this model yet."""
        self._vectors = self._vector_file(embedder)
        if self._vectors is not None:
            loaded = VectorIndex.load(self._vectors, slots=slots)
            if not isinstance(loaded, Refusal):
                return loaded
            log.info("vectors are made anew", extra={"reason": loaded.reason})
        return VectorIndex(embedder.dimension, embedder.model_id, slots=slots)

    def new_vectors(self, embedder: Embedder, slots: Slots) -> VectorIndex:
        """Return an index without vectors; its first save goes over the file."""
        self._vectors = self._vector_file(embedder)
        return VectorIndex(embedder.dimension, embedder.model_id, slots=slots)

    def save_vectors(self, vectors: VectorIndex, *, sequence: int, is_last: bool = False) -> None:
        """Bring vectors that are not in the file into it.

        Raises:
            OSError: the file counts as it was.
        """
        if self._vectors is not None:
            vectors.save(self._vectors, sequence=sequence, is_last=is_last)

    def _vector_file(self, embedder: Embedder) -> VectorFile | None:
        if self._folder is None or self._book is None:
            return None
        return VectorFile(
            self._folder / VECTORS_FILE,
            self._disk,
            dimension=embedder.dimension,
            model_id=embedder.model_id,
            book=self._book,
        )
