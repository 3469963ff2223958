"""The image of the file."""

from hypothesis import given
from hypothesis import strategies as st

from qms.memory.hand_lines import LineReader
from qms.memory.limits import DEFAULT_LIMITS
from qms.store.file_image import FileReading, Image, read_image, split_lines, trusted_image
from qms.store.render import chunks
from tests.support.boxes import NOW, entry, line_of

READER = LineReader(project="p", limits=DEFAULT_LIMITS, instant=NOW)
A, B, C = (line_of(entry(local)) for local in "abc")


def read(data: bytes, known: dict[bytes, list[str]] | None = None) -> FileReading:
    return read_image(data, known or {}, READER, {})


def problems(reading: FileReading) -> list[tuple[int, str]]:
    return [(one.index, one.code) for one in reading.image.problems]


def test_only_the_newline_byte_ends_a_line() -> None:
    assert split_lines("a\u2028b\u0085c\x0bd\re\n\nf".encode()) == [
        "a\u2028b\u0085c\x0bd\re".encode(),
        b"",
        b"f",
    ]
    assert split_lines(b"") == []
    assert split_lines(b"\n") == [b""]


@given(st.lists(st.sampled_from([A, B, C, b"", b"bad", b"[]", A + b"\r"]), max_size=8))
def test_an_image_has_every_byte_of_the_file(lines: list[bytes]) -> None:
    data = b"".join(line + b"\n" for line in lines)

    assert b"".join(chunks(read(data).image)) == data


def test_entries_bad_lines_and_blank_lines_stand_where_they_are() -> None:
    reading = read(b"\n".join([A, b"", b"bad", B]))

    assert reading.image.ids == ["p:a", None, None, "p:b"]
    assert problems(reading) == [(2, "notJson")]
    assert reading.image.other_lines() == [1, 2]
    assert set(reading.fresh) == {"p:a", "p:b"}


def test_known_lines_are_not_read_again() -> None:
    reading = read(A + b"\n" + B, {A: ["p:a"]})

    assert set(reading.fresh) == {"p:b"}
    assert reading.image.ids == ["p:a", "p:b"]


def test_of_two_lines_with_one_id_the_last_counts() -> None:
    other = line_of(entry("a", title="Other"))
    reading = read(b"\n".join([A, B, other]))

    assert reading.image.ids == [None, "p:b", "p:a"]
    assert problems(reading) == [(0, "duplicateId")]
    assert reading.fresh["p:a"].line == other


def test_a_known_line_further_down_outlives_a_new_one() -> None:
    other = line_of(entry("a", title="Other"))
    reading = read(b"\n".join([other, A]), {A: ["p:a"]})

    assert reading.fresh == {}
    assert problems(reading) == [(0, "duplicateId")]


def test_a_line_without_id_gets_the_same_one_each_time() -> None:
    nameless = line_of(entry(id=...))
    first, second = read(nameless), read(nameless)

    assert first.image.ids == second.image.ids
    assert first.image.ids[0] is not None
    assert first.image.ids[0].startswith("p:")


def test_equal_lines_without_id_are_entries_of_their_own() -> None:
    nameless = line_of(entry(id=...))
    reading = read(b"\n".join([nameless, nameless, nameless]))

    assert len(set(reading.image.ids)) == 3
    assert problems(reading) == []


@given(st.lists(st.sampled_from([A, B, C, b"", b"bad", A + b"\r", b" " + C]), unique=True))
def test_a_trusted_image_is_the_one_that_was_read(lines: list[bytes]) -> None:
    data = b"\xef\xbb\xbf" + b"".join(line + b"\n" for line in lines)
    reading = read(data)
    image, records = trusted_image(data, reading.image.other_lines(), READER)

    assert image.ids == reading.image.ids
    assert image.raws == reading.image.raws
    assert [one.code for one in image.problems] == [one.code for one in reading.image.problems]
    assert {one.header.id: one.line for one in records} == {
        key: good.line for key, good in reading.fresh.items()
    }


def test_lines_by_id_has_what_is_kept_behind_unreadable_lines() -> None:
    image = Image(ids=["p:a", None], raws=[A + b"\r", b"bad"], kept={"p:b": B})

    assert image.lines_by_id() == {"p:a": A, "p:b": B}


def test_equal_lines_without_id_keep_the_ids_that_they_had() -> None:
    nameless = line_of(entry(id=...))
    first = read(b"\n".join([nameless, nameless]))
    again = read_image(
        b"\n".join([nameless, nameless, nameless]),
        first.image.known_lines(),
        READER,
        first.image.taken_ids(),
    )

    assert again.image.ids[:2] == first.image.ids
    assert set(again.fresh) == {again.image.ids[2]}
    assert problems(again) == []
