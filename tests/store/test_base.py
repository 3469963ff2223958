"""The base of the three-way merge."""

from pathlib import Path

import msgspec
import pytest

from qms.disk.disk import Disk
from qms.store.base import BaseFiles, BaseMeta, digest_of
from tests.support.power_loss import Model, RecordingDisk

META = BaseMeta(
    folded_sequence=7, sha256=digest_of(b"x"), entries=2, other_lines=[1, 4], kept=['{"id":"p:é"}']
)


def test_there_is_no_base_before_the_first_fold(tmp_path: Path) -> None:
    base = BaseFiles(Disk(), tmp_path)

    assert base.read_meta() is None
    assert base.read_copy(None) is None


def test_a_committed_base_is_read_again(tmp_path: Path) -> None:
    base = BaseFiles(Disk(), tmp_path)
    (tmp_path / "base.jsonl.tmp").write_bytes(b"x")
    base.commit(META)

    assert base.read_meta() == META
    assert base.read_copy(META.sha256) == b"x"
    assert base.read_copy(digest_of(b"y")) is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["base.json", "base.jsonl"]


def test_one_flipped_byte_is_survived_and_two_halves_of_them_are_found(tmp_path: Path) -> None:
    base = BaseFiles(Disk(), tmp_path)
    base.write_meta(META)
    path = tmp_path / "base.json"
    good = path.read_bytes()
    half = len(good) // 2
    for position in range(half):
        once = bytearray(good)
        once[position] ^= 1
        path.write_bytes(once)
        assert base.read_meta() == META
        once[position + half] ^= 1
        path.write_bytes(once)
        assert base.read_meta() in (None, META)


def test_a_copy_that_did_not_come_to_its_name_is_found_under_the_temporary_one(
    tmp_path: Path,
) -> None:
    base = BaseFiles(Disk(), tmp_path)
    (tmp_path / "base.jsonl").write_bytes(b"older")
    (tmp_path / "base.jsonl.tmp").write_bytes(b"x")
    base.write_meta(META)

    assert base.read_copy(META.sha256) == b"x"
    base.finish()
    assert (tmp_path / "base.jsonl").read_bytes() == b"x"


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b'{"format":2,"crc32":0,"base":{}}'])
def test_anything_else_is_no_base(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "base.json").write_bytes(data)

    assert BaseFiles(Disk(), tmp_path).read_meta() is None


def test_what_was_announced_counts_until_it_is_the_base_or_taken_back(tmp_path: Path) -> None:
    base = BaseFiles(Disk(), tmp_path)
    next_meta = msgspec.structs.replace(META, folded_sequence=8, sha256=digest_of(b"y"))
    base.write_meta(META)
    assert base.read_announced(META) is None
    base.announce(next_meta)
    assert base.read_announced(META) == base.read_announced(None) == next_meta
    assert base.read_meta() == META
    assert base.read_announced(next_meta) is None
    base.withdraw()
    assert base.read_announced(META) is None


def test_an_announcement_that_is_older_than_the_base_does_not_count(tmp_path: Path) -> None:
    base = BaseFiles(Disk(), tmp_path)
    base.announce(msgspec.structs.replace(META, folded_sequence=6, sha256=digest_of(b"y")))

    assert base.read_announced(META) is None


def test_an_announcement_that_was_taken_back_does_not_return_with_a_power_loss(
    tmp_path: Path,
) -> None:
    disk = RecordingDisk(tmp_path)
    base = BaseFiles(disk, tmp_path)
    base.announce(META)
    base.withdraw()
    model = Model()
    for step in disk.steps:
        model.follow(step)

    for outcome in model.outcomes():
        assert "folding.json" not in outcome.files, outcome.name
