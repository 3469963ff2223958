"""Local ids that the server makes: UUIDv7, so that they sort by the time they were made."""

from datetime import datetime
from uuid import UUID

RANDOM_BYTES = 10


def make_local_id(now: datetime, randomness: bytes) -> str:
    """Return the UUIDv7 of an instant and `RANDOM_BYTES` random bytes."""
    milliseconds = int(now.timestamp() * 1000) & ((1 << 48) - 1)
    value = (milliseconds << 80) | int.from_bytes(randomness[:RANDOM_BYTES], "big")
    value = (value & ~(0xF << 76)) | (7 << 76)
    value = (value & ~(0x3 << 62)) | (0x2 << 62)
    return str(UUID(int=value))


def derived_local_id(digest: bytes) -> str:
    """Return the UUIDv8 of a digest, for an entry whose id must come out the same again."""
    value = int.from_bytes(digest[:16], "big")
    value = (value & ~(0xF << 76)) | (8 << 76)
    value = (value & ~(0x3 << 62)) | (0x2 << 62)
    return str(UUID(int=value))
