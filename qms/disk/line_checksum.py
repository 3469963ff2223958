"""Appends a checksum to a JSON line, so that a flipped byte that still decodes is noticed.

Lines that were written without one are accepted.
"""

import zlib

_SEAL = b',"crc32":'


def sealed(line: bytes) -> bytes:
    """Return a line, a JSON object, with the checksum of its bytes as its last field."""
    return line[:-1] + _SEAL + b"%d}" % zlib.crc32(line)


def unsealed(line: bytes) -> bytes:
    """Return a line without its checksum."""
    return _parts(line)[0]


def is_altered(line: bytes) -> bool:
    """Say whether the checksum of a line does not match its bytes."""
    whole, checksum = _parts(line)
    return checksum is not None and zlib.crc32(whole) != checksum


def _parts(line: bytes) -> tuple[bytes, int | None]:
    before, seal, number = line.rpartition(_SEAL)
    # In a string these quotes would be escaped; in an inner object more bytes would follow.
    if not seal or not number.endswith(b"}") or not number[:-1].isdigit():
        return line, None
    return before + b"}", int(number[:-1])
