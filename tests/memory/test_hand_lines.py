"""Lines that a person may have written."""

import json

import pytest
from hypothesis import given

from qms.memory.entry import Document
from qms.memory.hand_lines import BadLine, GoodLine, LineReader, bare, is_utf16
from qms.memory.limits import DEFAULT_LIMITS
from qms.memory.lines import decode_line, encode_line
from tests.support.boxes import NOW, PROJECT, entry
from tests.support.strategies import documents

READER = LineReader(project=PROJECT, limits=DEFAULT_LIMITS, instant=NOW)


def read(line: bytes) -> GoodLine | BadLine:
    return READER.read(line, lambda: "made")


def good(document: Document) -> GoodLine:
    result = read(encode_line(document))
    assert isinstance(result, GoodLine)
    return result


@given(documents())
def test_a_whole_entry_keeps_its_bytes(document: Document) -> None:
    line = encode_line(document)
    result = good(document)

    assert result.line == line
    assert not result.rewritten


def test_spaces_and_written_defaults_are_no_reason_to_rewrite_a_line() -> None:
    line = json.dumps(entry(pinned=False), separators=(" , ", " : ")).encode()
    result = read(line)

    assert isinstance(result, GoodLine)
    assert result.line == line


@pytest.mark.parametrize(
    ("document", "added"),
    [
        (entry(id=...), {"id": "p:made"}),
        (entry(id=""), {"id": "p:made"}),
        (entry(id="mine"), {"id": "p:mine"}),
        (entry(title=...), {"title": "Statement of a"}),
        (entry(schemaVersion=...), {"schemaVersion": 1}),
        (entry(body="plain"), {"body": {"statement": "plain"}}),
    ],
)
def test_what_the_author_left_out_is_added_and_the_order_kept(
    document: Document, added: Document
) -> None:
    result = good(document)
    stored = decode_line(result.line)

    assert result.rewritten
    assert stored == {**document, **added}
    assert [key for key in stored if key in document] == list(document)


def test_missing_times_are_the_time_of_the_file() -> None:
    result = good(entry(timestamps=...))

    assert result.header.timestamps.created_utc == NOW
    assert result.header.timestamps.updated_utc == NOW


def test_unknown_fields_stay_in_a_completed_line() -> None:
    result = good({"x": 1, "kind": "note", "body": {"text": "t", "y": [2]}, "z": None})

    stored = decode_line(result.line)
    assert stored["x"] == 1
    assert stored["body"] == {"text": "t", "y": [2]}
    assert stored["z"] is None


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"# a comment", "notJson"),
        (b"<<<<<<< HEAD", "notJson"),
        (b"[1, 2]", "notObject"),
        (b"null", "notObject"),
        (b'"text"', "notObject"),
        (b'{"id":"p:a","id":"p:b"}', "duplicateKey"),
        (b'{"id":"p:a","priority":NaN}', "badNumber"),
        (b'{"id":"p:a","x":' + b"[" * 300 + b"]" * 300 + b"}", "tooDeep"),
        (b'{"id":"p:a","x":"' + b"x" * 5_000_000 + b'"}', "tooLong"),
        (b'{"id":"p:a","x":"\x00"}', "notJson"),
        (b'{"id":"p:a","x":"\xff"}', "badEncoding"),
        (b'{"id":"p:a","x":"\\ud800"}', "badEncoding"),
        (b'{"id":"p:a","x":"\\udfff"}', "badEncoding"),
        (encode_line(entry(kind="poem")), "unknownKind"),
        (encode_line(entry(id="other:a")), "foreignProject"),
        (encode_line(entry(project="other")), "foreignProject"),
        (encode_line(entry(title="x" * 513)), "invalidEntry"),
        (encode_line(entry(kind=...)), "unknownKind"),
        (encode_line(entry(body=...)), "invalidEntry"),
        (b"{}", "invalidEntry"),
    ],
)
def test_a_bad_line_has_a_code_and_a_reason(line: bytes, code: str) -> None:
    result = read(line)

    assert isinstance(result, BadLine)
    assert result.code == code
    assert result.reason


def test_a_bad_line_shows_the_id_that_it_seems_to_have() -> None:
    result = read(b'{"id": "p:a", "title": "unfinished')

    assert isinstance(result, BadLine)
    assert result.entry_id == "p:a"


def test_a_line_of_an_older_schema_is_migrated() -> None:
    old = {
        "schemaVersion": 0,
        "id": "p:a",
        "kind": "fact",
        "title": "T",
        "body": "plain",
        "createdUtc": "2020-01-01T00:00:00Z",
        "updatedUtc": "2021-01-01T00:00:00Z",
        "mine": 1,
    }
    result = good(old)

    assert result.migrated
    assert result.rewritten
    assert decode_line(result.line) == {
        "schemaVersion": 1,
        "id": "p:a",
        "kind": "fact",
        "title": "T",
        "body": {"statement": "plain"},
        "mine": 1,
        "timestamps": {
            "createdUtc": "2020-01-01T00:00:00Z",
            "updatedUtc": "2021-01-01T00:00:00Z",
        },
    }


def test_a_line_of_a_newer_schema_is_read_and_left_alone() -> None:
    document = entry(schemaVersion=2, novelty=True)
    result = good(document)

    assert result.newer
    assert result.line == encode_line(document)


@pytest.mark.parametrize("version", [-1, 1.5, "1", True, None, []])
def test_a_schema_version_that_is_none_makes_a_bad_line(version: object) -> None:
    assert isinstance(read(encode_line(entry(schemaVersion=version))), BadLine)


@pytest.mark.parametrize(
    "raw", [b"{}", b"{}\r", b" {} ", b"\t{}\t\r", b"\xef\xbb\xbf{}", b"\xef\xbb\xbf {} \r"]
)
def test_marks_and_blanks_around_a_line_do_not_count(raw: bytes) -> None:
    assert bare(raw) == b"{}"


def test_utf_16_is_known_by_its_mark() -> None:
    assert is_utf16("{}".encode("utf-16"))
    assert is_utf16(b"\xfe\xff\x00{")
    assert not is_utf16(b"\xef\xbb\xbf{}")
    assert not is_utf16(b"")
