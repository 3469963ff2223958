"""Checksums of lines: every flipped byte is noticed, or changes nothing that is read."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from qms.disk.damage import line_fault
from qms.disk.line_checksum import is_altered, sealed, unsealed

objects = st.dictionaries(st.text(), st.text() | st.integers() | st.lists(st.text()), min_size=1)


@given(objects)
def test_a_sealed_line_is_the_same_object_and_can_be_unsealed(value: dict[str, object]) -> None:
    line = msgspec.json.encode(value)

    assert unsealed(sealed(line)) == line
    assert not is_altered(sealed(line))
    assert line_fault(sealed(line)) is None
    read = msgspec.json.decode(sealed(line))
    assert {key: read[key] for key in value if key != "crc32"} == {
        key: value[key] for key in value if key != "crc32"
    }


@given(objects)
def test_a_line_without_a_checksum_is_taken_as_it_is(value: dict[str, object]) -> None:
    line = msgspec.json.encode({"x": {"crc32": 5}, **value, "y": {"a": 1, "crc32": 5}})

    assert unsealed(line) == line
    assert not is_altered(line)


def test_every_flipped_byte_is_noticed_or_changes_nothing_that_is_read() -> None:
    value = {"reason": "deleted", "entry": {"title": "T", "body": {"text": 'x,"crc32":1}'}}}
    line = sealed(msgspec.json.encode(value))

    for position in range(len(line)):
        for bit in range(8):
            flipped = bytearray(line)
            flipped[position] ^= 1 << bit
            if b"\n" in flipped or line_fault(bytes(flipped)) is not None:
                continue
            found = msgspec.json.decode(bytes(flipped))
            assert {key: found.get(key) for key in value} == value, bytes(flipped)
