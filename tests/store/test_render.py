"""Rendering a fold."""

from hypothesis import given
from hypothesis import strategies as st

from qms.memory.lines import encode_line
from qms.store.file_image import Image, LineProblem
from qms.store.render import chunks, render
from qms.store.view import Record, StoreView, bulk_view
from tests.support.boxes import entry

A, B, C, D = (encode_line(entry(local)) for local in "abcd")
A2 = encode_line(entry("a", title="Changed"))


def view(*lines: bytes) -> StoreView:
    return bulk_view("p", [Record.from_line(line) for line in lines], 1)


def file_of(image: Image) -> list[bytes]:
    return b"".join(chunks(image)).splitlines()


def before() -> Image:
    return Image(
        ids=["p:a", None, "p:b", None],
        raws=[A + b"  ", b"bad", B, b""],
        problems=[LineProblem(1, "notJson", "r")],
    )


def test_untouched_lines_are_copied_byte_for_byte() -> None:
    assert file_of(render(before(), view(A, B), [])) == [A + b"  ", b"bad", B, b""]


def test_a_changed_entry_stays_in_its_place() -> None:
    assert file_of(render(before(), view(A2, B), ["p:a"])) == [A2, b"bad", B, b""]


def test_new_entries_go_last_in_the_order_they_were_made() -> None:
    image = render(before(), view(A, B, C, D), ["p:d", "p:c"])

    assert file_of(image) == [A + b"  ", b"bad", B, b"", D, C]


def test_a_removed_entry_leaves_its_line_and_bad_lines_move_up() -> None:
    image = render(before(), view(B), ["p:a"])

    assert file_of(image) == [b"bad", B, b""]
    assert [one.index for one in image.problems] == [0]


def test_what_came_and_went_between_two_folds_leaves_no_trace() -> None:
    assert file_of(render(before(), view(A, B), ["p:c"])) == file_of(before())


def test_an_entry_kept_behind_a_bad_line_stays_kept_until_it_changes() -> None:
    image = before()
    image.kept = {"p:c": C}

    assert render(image, view(A, B, C), []).kept == {"p:c": C}
    after = render(image, view(A, B, C), ["p:c"])
    assert after.kept == {}
    assert file_of(after)[-1] == C


def test_an_empty_image_has_no_bytes() -> None:
    assert list(chunks(Image())) == []


@given(st.integers(0, 4000))
def test_chunks_are_the_lines_each_with_its_newline(count: int) -> None:
    raws = [b"%d" % number for number in range(count)]

    assert b"".join(chunks(Image(ids=[None] * count, raws=raws))) == b"".join(
        raw + b"\n" for raw in raws
    )
