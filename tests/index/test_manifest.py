"""The manifest of the indexes vouches for what is on disk, and for nothing else."""

import errno
from pathlib import Path

import msgspec
import pytest

from qms.disk.disk import Disk
from qms.index.checked_json import seal
from qms.index.manifest import FORMAT, FileSum, Manifest, ManifestFile, VectorsPart

VECTORS = VectorsPart(
    format=1, model="m", dimension=8, sequence=1, entries=2, pieces=3, files=(FileSum(4, "sum"),)
)


class FullDisk(Disk):
    """A disk without room while `is_full`."""

    is_full = False

    def put(self, path: Path, data: bytes, *, mode: int = 0) -> None:
        if self.is_full:
            raise OSError(errno.ENOSPC, "No space left on device")
        super().put(path, data, mode=mode)


def test_what_could_not_be_written_is_not_vouched_for(tmp_path: Path) -> None:
    disk, path = FullDisk(), tmp_path / "manifest.json"
    book = ManifestFile(path, disk)
    book.put_vectors(VECTORS)
    disk.is_full = True
    with pytest.raises(OSError, match="No space"):
        book.put_vectors(msgspec.structs.replace(VECTORS, sequence=2))
    disk.is_full = False

    assert book.vectors == VECTORS
    book.put_columns(None)
    assert ManifestFile(path, Disk()).vectors == VECTORS


def test_a_manifest_of_another_format_vouches_for_nothing(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    newer = Manifest(format=FORMAT + 1, vectors=VECTORS)
    path.write_bytes(seal(msgspec.json.encode(newer)))

    book = ManifestFile(path, Disk())

    assert book.vectors is None
    assert book.refused is not None
    assert f"format {FORMAT + 1}" in book.refused
