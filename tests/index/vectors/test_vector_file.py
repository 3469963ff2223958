"""The file of a vector index: appended to, written anew, cut off anywhere."""

import errno
import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qms.disk.disk import Disk
from qms.index.slots import Slots
from qms.index.vectors.vector_file import MOST_DEAD, SUMS_EVERY, VectorFile
from qms.index.vectors.vector_index import Embedded, VectorIndex

DIMENSION = 8
QUERY = np.ones(DIMENSION, np.float32)


def file_in(
    folder: Path,
    disk: Disk | None = None,
    *,
    most_dead: int = MOST_DEAD,
    sums_every: int = SUMS_EVERY,
) -> VectorFile:
    return VectorFile(
        folder / "vectors.dat",
        disk or Disk(),
        dimension=DIMENSION,
        model_id="m",
        most_dead=most_dead,
        sums_every=sums_every,
    )


def loaded(folder: Path) -> VectorIndex:
    index = VectorIndex.load(file_in(folder))
    assert isinstance(index, VectorIndex)
    return index


def embedded(names: Iterable[str], pieces: int = 1) -> list[Embedded]:
    chance = np.random.default_rng(7)
    shape = (pieces, DIMENSION)
    return [Embedded(name, chance.normal(size=shape).astype(np.float32), 3) for name in names]


def check_same(found: VectorIndex, wanted: VectorIndex) -> None:
    assert dict(found.search(QUERY, 99)) == pytest.approx(dict(wanted.search(QUERY, 99)))
    assert sorted(found.ids()) == sorted(wanted.ids())
    one, other = found.moments(QUERY), wanted.moments(QUERY)
    # Squared: the deviation of equal vectors is the root of what rounding leaves of zero.
    assert one.deviation**2 == pytest.approx(other.deviation**2, abs=1e-6)
    assert one.mean == pytest.approx(other.mean, abs=1e-5)
    assert one.pieces == other.pieces


def test_a_save_writes_only_what_is_new(tmp_path: Path) -> None:
    index, file = VectorIndex(DIMENSION, "m"), file_in(tmp_path)
    index.put_all(embedded(f"p:{n}" for n in range(200)))
    index.save(file, sequence=1)
    path = tmp_path / "vectors.dat"
    before = path.read_bytes()

    index.put_all(embedded(["p:new", "p:3"], pieces=2))
    index.remove("p:4")
    assert index.unsaved == 3
    index.save(file, sequence=2)
    after = path.read_bytes()
    index.save(file, sequence=3)

    assert after.startswith(before)
    assert len(after) - len(before) < len(before) // 10
    assert path.read_bytes() == after
    check_same(loaded(tmp_path), index)


def test_a_file_of_outdated_vectors_is_written_anew(tmp_path: Path) -> None:
    index, file = VectorIndex(DIMENSION, "m"), file_in(tmp_path, most_dead=0)
    sizes = []
    for sequence in range(8):
        index.put_all(embedded(f"p:{n}" for n in range(50)))
        index.save(file, sequence=sequence)
        sizes.append((tmp_path / "vectors.dat").stat().st_size)

    assert max(sizes) < 4 * sizes[0]
    check_same(loaded(tmp_path), index)


STEPS = st.lists(
    st.tuples(st.sampled_from("prs"), st.sampled_from("abcde"), st.integers(1, 3)), max_size=30
)


@settings(max_examples=60, deadline=None)
@given(STEPS, st.integers(0, 6))
def test_what_was_saved_bit_by_bit_loads_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, int]], every: int
) -> None:
    folder = tmp_path_factory.mktemp("vectors")
    index = VectorIndex(DIMENSION, "m")
    file = file_in(folder, sums_every=every, most_dead=every)
    for step, name, pieces in steps:
        match step:
            case "p":
                index.put_all(embedded([name], pieces))
            case "r":
                index.remove(name)
            case _:
                index.save(file, sequence=0)
    index.save(file, sequence=1, is_last=bool(every % 2))

    check_same(loaded(folder), index)


@pytest.mark.fault("F17")
def test_what_a_killed_save_left_behind_is_gone_over(tmp_path: Path) -> None:
    index, file = VectorIndex(DIMENSION, "m"), file_in(tmp_path)
    index.put_all(embedded(["p:a"]))
    index.save(file, sequence=1)
    path = tmp_path / "vectors.dat"
    with path.open("ab") as torn:
        torn.write(b"half a block that nobody vouched for")

    again, file = loaded(tmp_path), file_in(tmp_path)
    assert again.ids() == ["p:a"]
    file.read()
    again.put_all(embedded(["p:b"]))
    again.save(file, sequence=2)

    assert b"half a block" not in path.read_bytes()
    check_same(loaded(tmp_path), again)


class Killed(BaseException):
    """The process is no more."""


class Dying(Disk):
    """A disk whose process dies at the n-th change of a name."""

    def __init__(self, left: int) -> None:
        self.left = left

    def rename(self, source: Path, target: Path) -> None:
        if self.left == 0:
            raise Killed
        self.left -= 1
        super().rename(source, target)


@pytest.mark.fault("F17")
@pytest.mark.parametrize("step", range(3))
def test_a_kill_inside_a_rewrite_leaves_a_file_that_is_known(tmp_path: Path, step: int) -> None:
    index = VectorIndex(DIMENSION, "m")
    index.put_all(embedded(["p:a", "p:b"]))
    index.save(file_in(tmp_path), sequence=1)

    with pytest.raises(Killed):
        index.save(file_in(tmp_path, Dying(step)), sequence=2)

    check_same(loaded(tmp_path), index)


@pytest.mark.fault("F17")
@pytest.mark.parametrize("step", range(3))
def test_a_kill_inside_a_rewrite_leaves_the_old_vectors_or_the_new_ones(
    tmp_path: Path, step: int
) -> None:
    index = VectorIndex(DIMENSION, "m")
    index.put_all(embedded(["p:a", "p:b"]))
    index.save(file_in(tmp_path), sequence=1)
    index.put_all(embedded(["p:c"]))

    with pytest.raises(Killed):
        index.save(file_in(tmp_path, Dying(step)), sequence=2)

    assert sorted(loaded(tmp_path).ids()) in (["p:a", "p:b"], ["p:a", "p:b", "p:c"])


class Full(Disk):
    """A disk that has no room for what is appended."""

    def sync(self, descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_what_could_not_be_saved_is_saved_later(tmp_path: Path) -> None:
    index = VectorIndex(DIMENSION, "m")
    index.put_all(embedded(["p:a"]))
    index.save(file_in(tmp_path), sequence=1)
    full, whole = file_in(tmp_path, Full()), file_in(tmp_path)
    full.read()
    whole.read()
    index.put_all(embedded(["p:b"]))

    with pytest.raises(OSError, match="No space"):
        index.save(full, sequence=2)
    assert loaded(tmp_path).ids() == ["p:a"]
    index.save(whole, sequence=2)

    check_same(loaded(tmp_path), index)


class FullAfterAPut(Full):
    """A disk without room on which another entry is embedded while a save is under way."""

    def __init__(self, index: VectorIndex) -> None:
        self.index = index

    def sync(self, descriptor: int) -> None:
        self.index.put_all(embedded(["p:c"]))
        super().sync(descriptor)


def test_what_was_embedded_during_a_failed_save_is_saved_later_too(tmp_path: Path) -> None:
    index = VectorIndex(DIMENSION, "m")
    index.put_all(embedded(["p:a"]))
    index.save(file_in(tmp_path), sequence=1)
    full, whole = file_in(tmp_path, FullAfterAPut(index)), file_in(tmp_path)
    full.read()
    whole.read()
    index.put_all(embedded(["p:b"]))

    with pytest.raises(OSError, match="No space"):
        index.save(full, sequence=2)
    assert index.unsaved == 2
    index.save(whole, sequence=2)

    assert sorted(loaded(tmp_path).ids()) == ["p:a", "p:b", "p:c"]
    check_same(loaded(tmp_path), index)


def test_vectors_without_a_place_in_the_file_are_saved_after_a_compaction(tmp_path: Path) -> None:
    index, file = VectorIndex(DIMENSION, "m"), file_in(tmp_path)
    index.put_all(embedded(["p:a", "p:gone"]))
    index.save(file, sequence=1)
    index.put_all(embedded(["p:b"]))

    compacted = index.compacted(Slots(["p:b", "p:a"]))
    compacted.save(file, sequence=2)

    assert sorted(loaded(tmp_path).ids()) == ["p:a", "p:b"]
