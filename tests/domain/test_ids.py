"""Local ids that the server makes."""

from datetime import timedelta
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from qms.domain.entry import LOCAL_ID, split_id
from qms.domain.ids import RANDOM_BYTES, derived_local_id, make_local_id
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
