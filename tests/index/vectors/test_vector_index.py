"""The vector index finds what an exact search finds, under any filter, and survives changes."""

import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qms.disk.disk import Disk
from qms.index.arrays import BoolArray, FloatArray
from qms.index.slots import Slots
from qms.index.vectors.blocks import Refusal
from qms.index.vectors.codes import unit_query
from qms.index.vectors.vector_file import VectorFile
from qms.index.vectors.vector_index import DENSE_FROM, Embedded, VectorIndex
from qms.memory.errors import InvalidInputError
from tests.support.index_files import change_manifest

DIMENSION = 64
MODEL = "model-a"


def unit(rows: FloatArray) -> FloatArray:
    result: FloatArray = rows / np.linalg.norm(rows, axis=-1, keepdims=True)
    return result


def clustered(count: int, *, seed: int = 0, dimension: int = DIMENSION) -> FloatArray:
    """Return unit vectors around a few centres, as texts about a few subjects are."""
    centres = np.random.default_rng(99).standard_normal((40, dimension))
    random = np.random.default_rng(seed)
    near = centres[random.integers(0, 40, count)] + random.standard_normal((count, dimension))
    return unit(near.astype(np.float32))


def index_of(
    rows: FloatArray, *, dimension: int = DIMENSION, dense_from: int = DENSE_FROM
) -> VectorIndex:
    index = VectorIndex(dimension, MODEL, dense_from=dense_from)
    index.put_all(Embedded(f"p:{number}", row) for number, row in enumerate(rows))
    return index


def exact_best(rows: FloatArray, query: FloatArray, k: int, allowed: BoolArray) -> set[str]:
    scores = np.where(allowed, rows @ query, -2)
    return {f"p:{number}" for number in np.argsort(-scores)[:k]}


def recall(index: VectorIndex, rows: FloatArray, queries: FloatArray, allowed: BoolArray) -> float:
    k = min(25, int(allowed.sum()))
    found = [
        len(
            exact_best(rows, query, k, allowed)
            & {name for name, _ in index.search(query, k, allowed)}
        )
        for query in queries
    ]
    return sum(found) / (k * len(queries))


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.01, 0.1, 0.5, 1.0])
def test_a_filtered_search_finds_what_an_exact_one_finds(share: float) -> None:
    rows, queries = clustered(6000, dimension=384), clustered(40, seed=1, dimension=384)
    index = index_of(rows, dimension=384)
    allowed = np.random.default_rng(2).random(len(rows)) < share

    assert recall(index, rows, queries, allowed) >= 0.99


def unrelated(count: int, *, dimension: int) -> FloatArray:
    """Return unit vectors that are about nothing in particular."""
    return unit(np.random.default_rng(5).standard_normal((count, dimension)).astype(np.float32))


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.01, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("is_related", [True, False])
def test_the_denser_structure_finds_as_much(share: float, is_related: bool) -> None:
    rows = clustered(12_000, dimension=384)
    queries = clustered(40, seed=1, dimension=384) if is_related else unrelated(40, dimension=384)
    index = index_of(rows[:10_000], dimension=384, dense_from=5000)
    wanted_before = index.wants_compaction
    index.compact()
    index.put_all(Embedded(f"p:{number}", rows[number]) for number in range(10_000, 12_000))
    for number in range(0, 12_000, 7):
        index.remove(f"p:{number}")
    allowed = np.random.default_rng(2).random(len(rows)) < share
    allowed[::7] = False

    assert recall(index, rows, queries, allowed) >= 0.99
    assert wanted_before
    assert not index.wants_compaction


def test_a_score_is_the_cosine_of_the_float_vectors() -> None:
    rows, query = clustered(300), clustered(1, seed=1)[0]
    index = index_of(rows * np.float32(7))

    found = dict(index.search(query * 3, 300))

    assert len(found) == 300
    for number, cosine in enumerate(rows @ query):
        assert found[f"p:{number}"] == pytest.approx(cosine, abs=5e-5)


def test_an_entry_counts_once_and_as_its_best_piece() -> None:
    rows, query = clustered(3000), clustered(1, seed=1)[0]
    index = VectorIndex(DIMENSION, MODEL)
    index.put_all(Embedded(f"p:{n}", rows[n * 30 : n * 30 + 30]) for n in range(100))
    best = (rows @ query).reshape(100, 30).max(axis=1)

    found = index.search(query, 60)

    assert [name for name, _ in found] == [f"p:{n}" for n in np.argsort(-best)[:60]]
    assert [score for _, score in found] == pytest.approx(sorted(best, reverse=True)[:60], abs=5e-5)


def test_one_entry_with_many_near_pieces_does_not_crowd_out_the_others() -> None:
    query = clustered(1, seed=1)[0]
    index = VectorIndex(DIMENSION, MODEL)
    for number in range(8):
        index.put(f"p:long{number}", np.tile(query, (64, 1)))
    index.put("p:short", clustered(1, seed=3))

    assert index.search(query, 9)[-1][0] == "p:short"


def test_scores_are_those_of_the_search_and_leave_out_who_has_no_vectors() -> None:
    rows, query = clustered(50), clustered(1, seed=1)[0]
    index = index_of(rows)
    index.put("p:3", rows[:5])
    index.slots.claim("p:without")
    index.remove("p:4")
    found = dict(index.search(query, 60))

    scores = index.scores(query, ["p:3", "p:7", "p:4", "p:without", "p:unknown"])

    assert scores == pytest.approx({"p:3": found["p:3"], "p:7": found["p:7"]}, abs=1e-6)
    assert index.scores(query, []) == {}


def test_what_is_put_again_replaces_and_what_is_removed_is_gone() -> None:
    rows = clustered(3)
    index = VectorIndex(DIMENSION, MODEL)
    index.put("p:a", rows[:2], mark=7)
    index.put("p:a", rows[2], mark=2**64 - 1)
    index.put("p:b", rows[1])
    index.remove("p:b")
    index.remove("p:b")
    index.remove("p:unknown")

    assert (len(index), index.pieces, index.ids()) == (1, 1, ["p:a"])
    assert dict(index.search(rows[2], 5)) == pytest.approx({"p:a": 1}, abs=5e-5)
    assert (index.mark_of("p:a"), index.mark_of("p:b"), index.mark_of("p:c")) == (
        2**64 - 1,
        None,
        None,
    )


def test_entries_beyond_the_mask_may_not_be_found() -> None:
    rows = clustered(3)
    index = index_of(rows)

    assert [name for name, _ in index.search(rows[2], 5, np.array([False, True]))] == ["p:1"]
    assert index.search(rows[2], 5, np.zeros(0, np.bool_)) == []


def test_an_empty_index_answers_with_nothing() -> None:
    index = VectorIndex(DIMENSION, MODEL)
    query = clustered(1)[0]

    assert index.search(query, 5) == []
    assert index.scores(query, ["p:a"]) == {}
    assert index.moments(query) == (0, 0, 0)
    index.compact()
    assert index.search(query, 0) == []


@pytest.mark.parametrize("share", [1.0, 0.9, 0.2, 0.0])
def test_moments_are_those_of_all_allowed_pieces(share: float) -> None:
    rows, query = clustered(1500), clustered(1, seed=1)[0]
    index = index_of(rows)
    for number in range(100):
        index.remove(f"p:{number}")
    index.put("p:200", rows[300:303])
    allowed = np.random.default_rng(3).random(1500) < share
    kept = [n for n in range(100, 1500) if allowed[n] and n != 200]
    expected = rows[kept] @ query
    if allowed[200]:
        expected = np.concatenate((expected, rows[300:303] @ query))

    mean, deviation, pieces = index.moments(query, allowed)

    assert pieces == len(expected)
    if pieces:
        assert mean == pytest.approx(expected.mean(), abs=5e-5)
        assert deviation == pytest.approx(expected.std(), abs=5e-5)


def test_moments_of_very_many_pieces_are_close() -> None:
    rows, query = clustered(40_000), clustered(1, seed=1)[0]
    index = index_of(rows)
    allowed = np.arange(40_000) % 2 == 0
    expected = rows[allowed] @ query

    mean, deviation, _ = index.moments(query, allowed)

    assert abs(mean - expected.mean()) < 0.03 * expected.std()
    assert deviation == pytest.approx(expected.std(), rel=0.03)


BAD_VECTORS = {
    "too short": [1.0] * (DIMENSION - 1),
    "too long": [1.0] * (DIMENSION + 1),
    "not a number": [float("nan")] * DIMENSION,
    "infinite": [float("inf")] + [1.0] * (DIMENSION - 1),
    "beyond every float": [10**400] * DIMENSION,
    "nothing but zeros": [0.0] * DIMENSION,
    "strings": ["1"] * DIMENSION,
    "booleans": [True] * DIMENSION,
    "a string": "1" * DIMENSION,
    "nothing": [],
    "null": None,
    "ragged": [[1.0] * DIMENSION, [1.0]],
    "mixed": [[1.0] * DIMENSION, 1.0],
    "too many": [[1.0] * DIMENSION] * 65,
    "an array with NaN": np.full(DIMENSION, np.nan, np.float32),
    "an array of zeros": np.zeros(DIMENSION, np.float32),
    "an array of another length": np.ones(DIMENSION + 1, np.float32),
    "an array of three dimensions": np.ones((1, 1, DIMENSION), np.float32),
    "an array of strings": np.array(["1"] * DIMENSION),
}


@pytest.mark.attack("40")
@pytest.mark.parametrize("given", BAD_VECTORS.values(), ids=BAD_VECTORS.keys())
def test_a_vector_without_direction_is_refused_by_name(given: object) -> None:
    index = index_of(clustered(2))
    good = Embedded("p:new", clustered(1)[0])

    with pytest.raises(InvalidInputError) as caught:
        index.put_all([good, Embedded("p:bad", given)])
    assert caught.value.details["field"] == "embedding"
    for ask in (index.search, index.nearest):
        with pytest.raises(InvalidInputError) as caught:
            ask(given, 5)
        assert caught.value.details["field"] == "query.embedding"
    assert (len(index), index.mark_of("p:new")) == (2, None)


def test_a_query_is_one_vector() -> None:
    with pytest.raises(InvalidInputError, match="must be one vector"):
        index_of(clustered(2)).search(clustered(2), 5)


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1.0, 1e30, 1e300])
def test_the_length_of_a_vector_does_not_matter(scale: float) -> None:
    row = clustered(1)[0].astype(np.float64)
    index = VectorIndex(DIMENSION, MODEL)
    index.put("p:a", (row * scale).tolist())

    assert dict(index.search((row * scale).tolist(), 1)) == pytest.approx({"p:a": 1}, abs=5e-5)


def test_a_dimension_that_fits_no_block_of_the_processor_works() -> None:
    rows = clustered(500, dimension=37)
    index = index_of(rows, dimension=37)

    assert [index.search(rows[n], 1)[0][0] for n in range(9)] == [f"p:{n}" for n in range(9)]


operations = st.lists(
    st.tuples(st.sampled_from("abcdef"), st.integers(0, 3), st.integers(0, 40)), max_size=30
)


@settings(max_examples=100, deadline=None)
@given(steps=operations, compact_at=st.integers(0, 30))
def test_the_index_equals_a_dictionary_of_vectors(
    steps: list[tuple[str, int, int]], compact_at: int
) -> None:
    rows, query = clustered(45), clustered(1, seed=1)[0]
    index, model = VectorIndex(DIMENSION, MODEL), dict[str, FloatArray]()
    for number, (name, pieces, start) in enumerate(steps):
        if number == compact_at:
            index.compact()
        if pieces:
            index.put(name, rows[start : start + pieces])
            model[name] = rows[start : start + pieces]
        else:
            index.remove(name)
            model.pop(name, None)

    best = {name: float((vectors @ query).max()) for name, vectors in model.items()}
    everything = np.concatenate([*model.values(), rows[:0]]) @ query

    assert dict(index.search(query, 10)) == pytest.approx(best, abs=5e-5)
    assert index.scores(query, model) == pytest.approx(best, abs=5e-5)
    assert (len(index), index.pieces) == (len(model), len(everything))
    if model:
        assert index.moments(query)[:2] == pytest.approx(
            (everything.mean(), everything.std()), abs=5e-5
        )


def test_rows_of_replaced_vectors_are_given_back() -> None:
    rows = clustered(64)
    index = VectorIndex(DIMENSION, MODEL)
    for _ in range(200):
        index.put("p:a", rows)

    assert index.pieces == 64
    assert index.capacity < 1024


def test_many_dead_rows_ask_for_compaction() -> None:
    index = index_of(clustered(5000))
    for number in range(4097):
        index.remove(f"p:{number}")
    wanted_before = index.wants_compaction

    index.compact()

    assert (wanted_before, index.wants_compaction) == (True, False)
    assert len(index.search(clustered(1)[0], 2000)) == 903


def test_vectors_move_to_the_slots_of_compacted_columns() -> None:
    rows = clustered(20)
    index = index_of(rows)
    slots = Slots([f"p:{number}" for number in (17, 4, 11)])

    moved = index.compacted(slots)

    assert set(moved.ids()) == {"p:17", "p:4", "p:11"}
    assert [name for name, _ in moved.search(rows[4], 5, np.array([False, True, False]))] == ["p:4"]
    assert moved.moments(rows[4]).mean == pytest.approx(
        (rows[[17, 4, 11]] @ rows[4]).mean(), abs=5e-5
    )


def test_a_search_beside_a_writer_finds_every_entry_exactly_once() -> None:
    rows = clustered(400)
    index = index_of(rows)
    done = threading.Event()

    def write() -> None:
        for turn in range(12):
            for number in range(0, 400, 3):
                index.put(f"p:{number}", np.roll(rows, turn, axis=0)[number : number + 2])
            index.compact()
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    while not done.is_set():
        names = [name for name, _ in index.search(rows[0], 400)]
        assert sorted(names) == sorted({f"p:{number}" for number in range(400)})
        assert index.moments(rows[0]).pieces >= 400
    writer.join()


def file_at(
    path: Path, dimension: int = DIMENSION, model_id: str = MODEL, disk: Disk | None = None
) -> VectorFile:
    return VectorFile(path, disk or Disk(), dimension=dimension, model_id=model_id)


def saved(tmp_path: Path) -> tuple[VectorIndex, Path]:
    rows = clustered(30)
    index = VectorIndex(DIMENSION, MODEL)
    index.put_all(Embedded(f"p:{n}", rows[n : n + 1 + n % 3], n * 10**15) for n in range(20))
    index.put("p:3", rows[25])
    index.remove("p:5")
    path = tmp_path / "vectors.dat"
    index.save(file_at(path), sequence=41)
    return index, path


def load(path: Path, dimension: int = DIMENSION, model_id: str = MODEL) -> VectorIndex | Refusal:
    return VectorIndex.load(file_at(path, dimension, model_id))


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_loaded_index_answers_like_the_saved_one(tmp_path: Path) -> None:
    index, path = saved(tmp_path)
    query = clustered(1, seed=1)[0]

    loaded = load(path)

    assert isinstance(loaded, VectorIndex)
    assert index.sequence == 41
    assert sorted(loaded.ids()) == sorted(index.ids())
    assert dict(loaded.search(query, 50)) == dict(index.search(query, 50))
    assert loaded.moments(query) == pytest.approx(index.moments(query))
    assert [loaded.mark_of(name) for name in index.ids()] == [
        index.mark_of(name) for name in index.ids()
    ]
    loaded.put("p:3", query)
    assert loaded.search(query, 1)[0][0] == "p:3"
    assert names_in(tmp_path) == ["manifest.json", "vectors.dat"]


def test_an_index_is_loaded_under_the_slots_that_are_there(tmp_path: Path) -> None:
    _, path = saved(tmp_path)
    slots = Slots(["p:other", "p:7"])

    loaded = VectorIndex.load(file_at(path), slots=slots)

    assert isinstance(loaded, VectorIndex)
    found = loaded.search(clustered(1)[0], 5, np.array([True, True]))
    assert [name for name, _ in found] == ["p:7"]


def test_an_empty_index_can_be_saved_and_loaded(tmp_path: Path) -> None:
    path = tmp_path / "vectors.dat"
    VectorIndex(DIMENSION, MODEL).save(file_at(path), sequence=0)

    loaded = load(path)

    assert isinstance(loaded, VectorIndex)
    assert len(loaded) == 0


def flipped_loads(path: Path) -> list[VectorIndex | Refusal]:
    """Return what comes of a small file when each of its bytes in turn has a flipped bit."""
    index = VectorIndex(8, "m")
    index.put_all(Embedded(f"p:{n}", row) for n, row in enumerate(clustered(5, dimension=8)))
    file = file_at(path, 8, "m")
    index.save(file, sequence=3)
    index.put("p:late", clustered(1, dimension=8, seed=2)[0])
    index.save(file, sequence=4)
    good = path.read_bytes()
    found = []
    for place in range(len(good)):
        path.write_bytes(good[:place] + bytes([good[place] ^ 0x10]) + good[place + 1 :])
        found.append(load(path, 8, "m"))
    path.write_bytes(good)
    assert isinstance(load(path, 8, "m"), VectorIndex)
    return found


@pytest.mark.fault("F09")
def test_one_flipped_byte_anywhere_is_refused_with_a_reason(tmp_path: Path) -> None:
    found = flipped_loads(tmp_path / "vectors.dat")

    assert all(isinstance(outcome, Refusal) and outcome.reason for outcome in found)


@pytest.mark.fault("F09")
def test_without_the_checksum_a_flipped_byte_would_be_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(VectorFile, "_verified_size", lambda _file, data, _files: len(data))

    found = flipped_loads(tmp_path / "vectors.dat")

    assert any(isinstance(outcome, VectorIndex) for outcome in found)


@pytest.mark.fault("F17")
def test_a_partial_or_missing_file_is_refused_with_a_reason(tmp_path: Path) -> None:
    _, path = saved(tmp_path)
    good = path.read_bytes()

    for length in (0, 1, 7, 60, len(good) // 2, len(good) - 1):
        path.write_bytes(good[:length])
        assert isinstance(load(path), Refusal)
    path.unlink()
    assert isinstance(load(path), Refusal)


@pytest.mark.fault("F17")
def test_another_model_or_dimension_is_refused_by_name(tmp_path: Path) -> None:
    _, path = saved(tmp_path)

    other_model, other_dimension = load(path, model_id="model-b"), load(path, dimension=65)

    assert other_model == Refusal("made with the model 'model-a', the current one is 'model-b'")
    assert other_dimension == Refusal("vectors of 64 numbers, the model's have 65")


@pytest.mark.fault("F17")
def test_an_older_format_is_refused_by_number(tmp_path: Path) -> None:
    _, path = saved(tmp_path)
    change_manifest(tmp_path / "manifest.json", lambda content: content["vectors"].update(format=1))

    assert load(path) == Refusal("format 1, this version reads 2")


class FullDisk(Disk):
    """A disk without room."""

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        raise OSError(28, "No space left on device")


def test_a_failed_save_leaves_the_old_file(tmp_path: Path) -> None:
    index, path = saved(tmp_path)
    before = path.read_bytes()

    with pytest.raises(OSError, match="No space"):
        index.save(file_at(path, disk=FullDisk()), sequence=42)

    assert path.read_bytes() == before
    assert names_in(tmp_path) == ["manifest.json", "vectors.dat"]
    assert index.sequence == 41
    assert isinstance(load(path), VectorIndex)


def test_only_vectors_of_the_lines_that_are_there_are_kept() -> None:
    rows = clustered(4)
    index = VectorIndex(DIMENSION, "m")
    for number, row in enumerate(rows):
        index.put(f"p:{number}", row, mark=100 + number)
    index.slots.claim("p:new")

    missing = index.keep(np.array([100, 999, 102], np.uint64))

    assert missing.tolist() == [1]
    assert index.ids() == ["p:0", "p:2"]
    assert index.pieces == 2
    only = index.moments(rows[0])
    again = VectorIndex(DIMENSION, "m")
    again.put("p:0", rows[0])
    again.put("p:2", rows[2])
    assert only.mean == pytest.approx(again.moments(rows[0]).mean, abs=1e-5)


def test_a_query_whose_square_no_number_holds_has_a_direction_all_the_same() -> None:
    found = unit_query(np.array([1e299, -1e299]), 2)

    assert found == pytest.approx([0.5**0.5, -(0.5**0.5)])
