"""The base of the three-way merge."""

from pathlib import Path

import pytest

from qms.files.base import BaseFiles, BaseMeta, digest_of
from qms.fsio.disk import Disk

META = BaseMeta(
    folded_sequence=7, sha256=digest_of(b"x"), entries=2, other_lines=[1, 4], kept=['{"id":"p:é"}']
)


def test_there_is_no_base_before_the_first_fold(tmp_path: Path) -> None:
    base = BaseFiles(Disk(), tmp_path)

    assert base.read_meta() is None
    assert base.read_copy() is None


def test_a_committed_base_is_read_again(tmp_path: Path) -> None:
    base = BaseFiles(Disk(), tmp_path)
    (tmp_path / "base.jsonl.tmp").write_bytes(b"x")
    base.commit(META)

    assert base.read_meta() == META
    assert base.read_copy() == b"x"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["base.json", "base.jsonl"]


def test_one_flipped_byte_makes_the_base_unusable(tmp_path: Path) -> None:
    base = BaseFiles(Disk(), tmp_path)
    base.write_meta(META)
    path = tmp_path / "base.json"
    good = path.read_bytes()
    for position in range(len(good)):
        path.write_bytes(good[:position] + bytes([good[position] ^ 1]) + good[position + 1 :])
        assert base.read_meta() in (None, META)
        if position > good.index(b"foldedSequence"):
            assert base.read_meta() is None or position >= len(good) - 1


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b'{"format":2,"crc32":0,"base":{}}'])
def test_anything_else_is_no_base(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "base.json").write_bytes(data)

    assert BaseFiles(Disk(), tmp_path).read_meta() is None
