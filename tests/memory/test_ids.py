"""Local ids that the server makes."""

from datetime import timedelta
from uuid import UUID

from hypothesis import example, given
from hypothesis import strategies as st

from qms.memory.entry import LOCAL_ID, split_id
from qms.memory.ids import RANDOM_BYTES, derived_local_id, make_local_id, short_id, whole_id
from tests.support.boxes import NOW

random_bytes = st.binary(min_size=RANDOM_BYTES, max_size=RANDOM_BYTES)


@given(random_bytes)
def test_a_made_id_is_a_uuid_of_version_seven_and_a_local_id(randomness: bytes) -> None:
    made = make_local_id(NOW, randomness)

    assert UUID(made).version == 7
    assert LOCAL_ID.fullmatch(made)


@given(random_bytes, random_bytes)
def test_ids_sort_by_the_time_they_were_made(first: bytes, second: bytes) -> None:
    later = NOW + timedelta(milliseconds=1)

    assert make_local_id(NOW, first) < make_local_id(later, second)


@given(st.binary(min_size=32, max_size=32))
def test_a_derived_id_comes_out_the_same_again(digest: bytes) -> None:
    derived = derived_local_id(digest)

    assert derived == derived_local_id(digest)
    assert UUID(derived).version == 8
    assert LOCAL_ID.fullmatch(derived)


def test_an_id_splits_at_its_first_colon() -> None:
    assert split_id("p:a") == ("p", "a")
    assert split_id("p:a:b") == ("p", "a:b")
    assert split_id("a") == ("", "a")
    assert split_id("") == ("", "")


@given(st.uuids(), st.sampled_from(["", "projA:"]))
@example(UUID(int=0), "")
@example(UUID(int=(1 << 128) - 1), "projA:")
def test_the_short_spelling_of_an_id_is_the_id(uuid: UUID, project: str) -> None:
    short = short_id(f"{project}{uuid}")

    assert len(short) == len(project) + 23
    assert LOCAL_ID.fullmatch(split_id(short)[1])
    assert whole_id(short) == f"{project}{uuid}"


@given(st.uuids(), st.uuids())
def test_short_ids_sort_like_the_long_ones(one: UUID, other: UUID) -> None:
    assert (short_id(str(one)) < short_id(str(other))) == (str(one) < str(other))


@given(st.from_regex(LOCAL_ID, fullmatch=True))
@example("_" + "z" * 22)
@example("01931C6E-9D1F-7C3E-8A55-3C2B8F0F6A11")
def test_an_id_that_is_no_uuid_has_one_spelling(local: str) -> None:
    assert whole_id(short_id(local)) == local
