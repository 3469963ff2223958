"""The file of a vector index: appended to, and rewritten when most of it is outdated.

The manifest has the valid length of the file and its sha256. Bytes beyond that length were left by
a killed process: they are not read, and the next append overwrites them.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from qms.disk.disk import Disk
from qms.index.manifest import FileSum, ManifestFile, VectorsPart
from qms.index.vectors.blocks import FORMAT, Block, Refusal, block_bytes, head_bytes, parse

if TYPE_CHECKING:
    from hashlib import _Hash

MOST_DEAD = 4096
"""How many outdated vectors the file may always have, however few others there are."""

SUMS_EVERY = 4096
"""After this many vectors their sums are written too, so that a start need not compute them."""


class Counts(msgspec.Struct, frozen=True):
    """The counts of an index when it is saved."""

    sequence: int
    entries: int
    pieces: int


class VectorFile:
    """The vector file of one store; one thread at a time."""

    def __init__(
        self,
        path: Path,
        disk: Disk,
        *,
        dimension: int,
        model_id: str,
        book: ManifestFile | None = None,
        most_dead: int = MOST_DEAD,
        sums_every: int = SUMS_EVERY,
    ) -> None:
        self._path = path
        self._disk = disk
        self._most_dead = most_dead
        self._sums_every = sums_every
        self.dimension = dimension
        self.model_id = model_id
        self._manifest = book or ManifestFile.beside(path, disk)
        self._digest: _Hash | None = None
        self._size = 0
        self._pieces = 0
        self._unsummed = 0

    def read(self) -> list[Block] | Refusal:
        """Return the blocks that the manifest lists, or why the file cannot be used."""
        part = self._manifest.vectors
        if part is None:
            return Refusal(self._manifest.refused or "the manifest does not list vectors")
        if (reason := self._misfit(part)) is not None:
            return Refusal(reason)
        try:
            data = self._disk.read(self._path)
        except OSError as error:
            return Refusal(f"cannot be read: {error.strerror}")
        size = self._verified_size(data, part.files)
        if size is None:
            return Refusal("the checksum does not match: the file is damaged or truncated")
        blocks = parse(memoryview(data)[:size], self.dimension, self.model_id)
        if isinstance(blocks, Refusal):
            self._digest = None
            return blocks
        self._pieces = sum(len(block.rows) for block in blocks)
        return blocks

    def wants_all(self, pieces: int) -> bool:
        """Say whether to write the whole index: there is no file, or most of it is outdated."""
        return self._digest is None or self._pieces > 2 * pieces + self._most_dead

    def wants_sums(self, pieces: int) -> bool:
        """Say whether a block of this many vectors should include sums."""
        return self._unsummed + pieces >= self._sums_every

    def append(self, block: Block, counts: Counts) -> None:
        """Append a block.

        Raises:
            OSError: the block does not count.
        """
        assert self._digest is not None
        data = b"".join(block_bytes(block))
        digest = self._digest.copy()
        digest.update(data)
        self._append(data)
        whole = FileSum(self._size + len(data), digest.hexdigest())
        self._manifest.put_vectors(self._part(counts, (whole,)))
        self._digest, self._size = digest, self._size + len(data)
        self._pieces += len(block.rows)
        self._unsummed = 0 if block.sums else self._unsummed + len(block.rows)

    def rewrite(self, block: Block, counts: Counts) -> None:
        """Replace the file atomically by one with this block alone.

        Raises:
            OSError: the old file counts.
        """
        digest, temporary = hashlib.sha256(), self._path.with_name(self._path.name + ".tmp")
        self._disk.make_folder(self._path.parent)
        self._disk.write_new(temporary, self._hashed(digest, block))
        size = temporary.stat().st_size
        whole, before = FileSum(size, digest.hexdigest()), self._manifest.vectors
        # A power loss may leave either file: the manifest lists both.
        either = (*(before.files if before else ()), whole)
        self._manifest.put_vectors(self._part(counts, either))
        self._disk.replace(temporary, self._path)
        self._disk.sync_folder(self._path.parent)
        self._digest, self._size, self._pieces, self._unsummed = digest, size, len(block.rows), 0
        self._manifest.put_vectors(self._part(counts, (whole,)))

    def _misfit(self, part: VectorsPart) -> str | None:
        if part.format != FORMAT:
            return f"format {part.format}, this version reads {FORMAT}"
        if part.model != self.model_id:
            return f"made with the model {part.model!r}, the current one is {self.model_id!r}"
        if part.dimension != self.dimension:
            return f"vectors of {part.dimension} numbers, the model's have {self.dimension}"
        return None

    def _verified_size(self, data: bytes, files: tuple[FileSum, ...]) -> int | None:
        """Return the length of the part whose checksum matches, or None."""
        for expected in reversed(files):
            digest = hashlib.sha256(memoryview(data)[: expected.size])
            if len(data) >= expected.size and digest.hexdigest() == expected.sha256:
                self._digest, self._size = digest, expected.size
                return expected.size
        return None

    def _append(self, data: bytes) -> None:
        descriptor = self._disk.open(self._path)
        try:
            self._disk.truncate(descriptor, self._size)
            self._disk.write_all(descriptor, data)
            self._disk.sync(descriptor)
        finally:
            self._disk.close(descriptor)

    def _hashed(self, digest: "_Hash", block: Block) -> Iterator[bytes]:
        yield from _through(digest, head_bytes(self.dimension, self.model_id))
        for part in block_bytes(block):
            yield from _through(digest, part)

    def _part(self, counts: Counts, files: tuple[FileSum, ...]) -> VectorsPart:
        return VectorsPart(
            format=FORMAT,
            model=self.model_id,
            dimension=self.dimension,
            sequence=counts.sequence,
            entries=counts.entries,
            pieces=counts.pieces,
            files=files,
        )


def _through(digest: "_Hash", part: bytes) -> Iterator[bytes]:
    if part:
        digest.update(part)
        yield part
