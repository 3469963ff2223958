from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qms.commands.cursors import CursorSigner
from qms.memory.errors import InvalidInputError
from qms.memory.filters import Filter

SECRET = b"s" * 32
POSITION = (7, datetime(2026, 1, 1, 0, 0, 0, 123456, tzinfo=UTC), "projA:x")
KIND = tuple[int, datetime, str]


def test_a_cursor_brings_back_its_position_exactly() -> None:
    signer = CursorSigner(SECRET, "projA", "-updated", Filter())

    assert signer.read(signer.sign(POSITION), KIND) == POSITION


@pytest.mark.parametrize(
    ("secret", "bound_to"),
    [
        (b"t" * 32, ("projA", "-updated", Filter())),
        (SECRET, ("projB", "-updated", Filter())),
        (SECRET, ("projA", "updated", Filter())),
        (SECRET, ("projA", "-updated", Filter(tags=frozenset({"x"})))),
    ],
)
def test_a_cursor_of_another_process_or_list_is_refused(
    secret: bytes, bound_to: tuple[object, ...]
) -> None:
    cursor = CursorSigner(SECRET, "projA", "-updated", Filter()).sign(POSITION)

    with pytest.raises(InvalidInputError, match=r"page\.cursor"):
        CursorSigner(secret, *bound_to).read(cursor, KIND)


@given(text=st.text())
def test_any_other_text_is_refused_and_never_an_error(text: str) -> None:
    with pytest.raises(InvalidInputError):
        CursorSigner(SECRET, "projA").read(text, KIND)


def test_a_cursor_belongs_to_a_filter_in_whichever_order_its_lists_are_given() -> None:
    tags = list(map(str, range(100)))
    first, turned = (Filter(tags=frozenset(order)) for order in (tags, tags[::-1]))

    cursor = CursorSigner(SECRET, "projA", "-updated", first).sign("here")

    assert CursorSigner(SECRET, "projA", "-updated", turned).read(cursor, str) == "here"
