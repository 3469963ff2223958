"""Entry lines: strict where the bytes are not our own."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qms.memory.entry import Document
from qms.memory.errors import InvalidInputError
from qms.memory.limits import DEFAULT_LIMITS, Limits
from qms.memory.lines import check_depth, decode_header, decode_line, encode_line, read_strictly
from qms.memory.validation import header_of
from tests.support.refusals import refusal_or_none
from tests.support.strategies import documents, values


def refusal(data: bytes, limits: Limits = DEFAULT_LIMITS) -> InvalidInputError:
    with pytest.raises(InvalidInputError) as refused:
        read_strictly(data, limits)
    return refused.value


@given(documents())
def test_a_document_comes_back_from_its_line_in_its_order(document: Document) -> None:
    line = encode_line(document)

    assert b"\n" not in line
    assert decode_line(line) == document
    assert list(decode_line(line)) == list(document)
    assert encode_line(decode_line(line)) == line


@given(documents())
def test_our_own_lines_pass_the_strict_reader(document: Document) -> None:
    assert read_strictly(encode_line(document), DEFAULT_LIMITS) == document


@given(documents())
def test_the_header_of_a_line_is_the_header_of_its_document(document: Document) -> None:
    assert decode_header(encode_line(document)) == header_of(document)


@given(values)
def test_any_json_value_is_read_strictly(value: Any) -> None:
    assert read_strictly(encode_line({"v": value}), DEFAULT_LIMITS) == {"v": value}


@given(st.binary(max_size=60))
def test_no_bytes_do_more_than_refuse(data: bytes) -> None:
    refused = refusal_or_none(lambda: read_strictly(data, DEFAULT_LIMITS))
    reasons = {"encoding", "syntax", "number", "depth", "duplicateKey"}

    assert refused is None or refused.details["reason"] in reasons


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "syntax"),
        (b"not json", "syntax"),
        (b"{'a': 1}", "syntax"),
        (b'{"a":1,}', "syntax"),
        (b'{"a":1} {"b":2}', "syntax"),
        (b'{"a":"\x00"}', "syntax"),
        (b'{"a":"\n"}', "syntax"),
        (b'{"a":01}', "syntax"),
        (b'\xef\xbb\xbf{"a":1}', "syntax"),
        (b'{"a":1,"a":2}', "duplicateKey"),
        (b'{"o":{"a":1,"\\u0061":2}}', "duplicateKey"),
        (b'{"a":NaN}', "number"),
        (b'{"a":Infinity}', "number"),
        (b'{"a":-Infinity}', "number"),
        (b'{"a":1e400}', "number"),
        (b'{"a":-1e400}', "number"),
        (b'{"a":' + b"9" * 5000 + b"}", "number"),
        (b'{"a":"\xff"}', "encoding"),
        (b'{"a":"\xc3"}', "encoding"),
        (b'{"a":"\xed\xa0\x80"}', "encoding"),
        (b'\xff\xfe{\x00"\x00', "encoding"),
        (b'{"a":"\\ud800"}', "encoding"),
        (b'{"a":"\\udc00"}', "encoding"),
        (b'{"a":"\\uDFFF\\uD800"}', "encoding"),
        (b'{"\\udc01":1}', "encoding"),
        (b"[" * 300 + b"]" * 300, "depth"),
        (b"[" * 100_000, "depth"),
        (b'{"a":' * 100_000, "depth"),
    ],
)
def test_what_json_cannot_carry_is_refused_with_its_reason(data: bytes, reason: str) -> None:
    assert refusal(data).details["reason"] == reason


def test_where_a_text_breaks_off_is_said_once() -> None:
    message = str(refusal(b'{"kind":"fact'))

    assert message == "not JSON: Unterminated string starting at column 9"


def test_a_duplicate_key_is_named() -> None:
    assert refusal(b'{"title":1,"title":2}').details["field"] == "title"


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'"\\ud83d\\ude00"', "\U0001f600"),
        (b'"\\\\ud800"', "\\ud800"),
        (b'"\\u0000"', "\0"),
        (b"1000000000000000000000000000000", 10**30),
        ('"a\u2028b"'.encode(), "a\u2028b"),
        (b" [ ] \t\r\n", []),
    ],
)
def test_unusual_but_good_json_is_taken(data: bytes, value: Any) -> None:
    assert read_strictly(data, DEFAULT_LIMITS) == value


def nested(depth: int) -> bytes:
    return b'{"a":' * (depth - 1) + b"[]" + b"}" * (depth - 1)


@pytest.mark.parametrize("maximum", [1, 2, 64])
def test_depth_is_taken_at_the_limit_and_refused_above(maximum: int) -> None:
    limits = Limits(json_depth=maximum)

    check_depth(read_strictly(nested(maximum), limits), limits)
    over = refusal(nested(maximum + 1), limits)
    assert over.details["limit"] == "jsonDepth"
    assert over.details["maximum"] == maximum
    assert "jsonDepth" in over.message


def test_many_brackets_side_by_side_are_not_deep() -> None:
    assert len(read_strictly(b"[" + b"[]," * 500 + b"[]]", DEFAULT_LIMITS)) == 501
