import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qms.disk.json_frames import MAX_FRAME_BYTES, Frame, Lost, frame, frame_lines

NASTY = st.text(alphabet='"\\{}[],: a\n\u2028é', max_size=8)
VALUES = st.recursive(
    st.none() | st.integers() | NASTY,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NASTY, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.lists(st.dictionaries(NASTY, VALUES, max_size=4), max_size=5)


def chunked(data: bytes, size: int) -> Iterator[bytes]:
    return (data[place : place + size] for place in range(0, len(data), size))


def values(data: bytes, size: int = 1 << 20) -> list[Any]:
    framed = list(frame(chunked(data, size)))
    assert all(isinstance(one, Frame) for one in framed), framed
    return [json.loads(one.data) for one in framed if isinstance(one, Frame)]


@given(OBJECTS, st.integers(1, 40), st.sampled_from([None, 1]), st.booleans())
def test_the_items_of_an_array_are_found_wherever_the_chunks_end(
    items: list[dict[str, Any]], size: int, indent: int | None, is_ascii: bool
) -> None:
    data = json.dumps(items, indent=indent, ensure_ascii=is_ascii).encode()

    assert values(data, size) == items


@given(OBJECTS, st.integers(1, 40))
def test_lines_are_found_wherever_the_chunks_end(items: list[dict[str, Any]], size: int) -> None:
    data = "\r\n\n".join(json.dumps(item) for item in items).encode()

    framed = list(frame_lines(chunked(data, size)))

    assert [json.loads(one.data) for one in framed if isinstance(one, Frame)] == items


@given(st.binary(max_size=200), st.integers(1, 40))
def test_any_bytes_are_framed_without_a_failure(data: bytes, size: int) -> None:
    for framed in frame(chunked(data, size)):
        assert 0 <= framed.offset <= len(data)


def test_an_offset_is_where_the_value_stands_in_the_file() -> None:
    data = b'\xef\xbb\xbf [\n {"a": "\\\\"}, {"b": {}}]'

    for framed in frame(chunked(data, 3)):
        assert isinstance(framed, Frame)
        assert data[framed.offset :].startswith(framed.data)


@pytest.mark.parametrize(
    "text", ['{"a":1}\n{"a":2}\n', '{"a":1}{"a":2}', '{\n"a":1}\n{\n"a":2}', ' [{"a":1},{"a":2}]']
)
def test_values_may_follow_each_other_in_any_of_the_usual_ways(text: str) -> None:
    assert values(text.encode()) == [{"a": 1}, {"a": 2}]


def test_a_broken_line_costs_no_other() -> None:
    data = b'{"a":1}\n{"a":[[["\n{"a":3}'

    assert [one.data for one in frame([data]) if isinstance(one, Frame)][2] == b'{"a":3}'


def test_of_a_value_that_the_file_ends_inside_of_the_messages_are_found() -> None:
    data = b'[{"id":1},{"id":2,"messages":[{"m":1},{"m":2},{"m"'

    whole, *parts, lost = frame(chunked(data, 7))

    assert [one.data for one in (whole, *parts) if isinstance(one, Frame)] == [
        b'{"id":1}',
        b'{"m":1}',
        b'{"m":2}',
    ]
    assert lost == Lost(10, "the file ends inside of it")
    assert isinstance(parts[0], Frame)
    assert (parts[0].part_of or b"").startswith(b'{"id":2')


def test_a_value_that_is_too_large_comes_as_its_messages() -> None:
    messages = [{"n": n, "text": "x" * (MAX_FRAME_BYTES // 4)} for n in range(10)]
    messages += [{"text": "y" * (2 * MAX_FRAME_BYTES)}, {"n": 11}]
    data = json.dumps([{"id": 1}, {"id": 2, "messages": messages}, {"id": 3}]).encode()

    framed = list(frame(chunked(data, 1 << 20)))

    found = [json.loads(one.data) for one in framed if isinstance(one, Frame)]
    assert found == [{"id": 1}, *messages[:10], {"n": 11}, {"id": 3}]
    assert [one.reason for one in framed if isinstance(one, Lost)] == ["it is larger than 8 MB"]


def test_a_huge_line_is_left_out_and_the_next_is_read() -> None:
    data = b'{"a":1}\n{"a":"' + b"x" * MAX_FRAME_BYTES + b'"}\n{"a":3}\n'

    first, lost, last = frame_lines(chunked(data, 1 << 16))

    assert isinstance(lost, Lost)
    assert isinstance(first, Frame)
    assert isinstance(last, Frame)
    assert lost.offset == 8
    assert data[last.offset :].startswith(last.data)


def test_utf_16_is_refused_with_a_word_of_what_to_do() -> None:
    (lost,) = frame(["[{}]".encode("utf-16")])

    assert isinstance(lost, Lost)
    assert "UTF-8" in lost.reason
