"""Local ids: UUIDv7, which sort by creation time, and their short spelling.

The short spelling saves tokens: 23 characters, an underscore and the UUID's number in base 62. Only
compact rows show it; it is accepted wherever an id is given.
"""

import re
from datetime import datetime
from string import ascii_lowercase, ascii_uppercase, digits
from uuid import UUID

from qms.memory.entry import split_id

RANDOM_BYTES = 10

_DIGITS = digits + ascii_uppercase + ascii_lowercase
"""In the order of their bytes, so that short ids sort like the long ones."""

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SHORT_LENGTH = 22
_SHORT = re.compile(rf"_[0-9A-Za-z]{{{_SHORT_LENGTH}}}")


def make_local_id(now: datetime, randomness: bytes) -> str:
    """Return the UUIDv7 of an instant and `RANDOM_BYTES` random bytes."""
    milliseconds = int(now.timestamp() * 1000) & ((1 << 48) - 1)
    value = (milliseconds << 80) | int.from_bytes(randomness[:RANDOM_BYTES], "big")
    value = (value & ~(0xF << 76)) | (7 << 76)
    value = (value & ~(0x3 << 62)) | (0x2 << 62)
    return str(UUID(int=value))


def derived_local_id(digest: bytes) -> str:
    """Return the UUIDv8 of a digest, for an entry whose id must be reproducible."""
    value = int.from_bytes(digest[:16], "big")
    value = (value & ~(0xF << 76)) | (8 << 76)
    value = (value & ~(0x3 << 62)) | (0x2 << 62)
    return str(UUID(int=value))


def short_id(entry_id: str) -> str:
    """Return an id with its UUID in the short spelling; any other id as it is."""
    project, local = split_id(entry_id)
    if not _UUID.fullmatch(local):
        return entry_id
    number, spelled = UUID(local).int, ""
    for _ in range(_SHORT_LENGTH):
        number, digit = divmod(number, len(_DIGITS))
        spelled = _DIGITS[digit] + spelled
    return _joined(project, f"_{spelled}")


def whole_id(given: str) -> str:
    """Return an id as the files have it: a short spelling becomes the whole UUID."""
    project, local = split_id(given)
    if not _SHORT.fullmatch(local):
        return given
    number = 0
    for digit in local[1:]:
        number = number * len(_DIGITS) + _DIGITS.index(digit)
    return _joined(project, str(UUID(int=number))) if number < 1 << 128 else given


def _joined(project: str, local: str) -> str:
    return f"{project}:{local}" if project else local
