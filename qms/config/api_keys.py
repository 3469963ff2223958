"""Stores API keys as hashes and compares them; the key itself is never stored."""

import hashlib
import hmac
import re
from collections.abc import Mapping
from datetime import datetime

import msgspec

from qms.memory.relations import AwareTime

MAX_KEY_CHARACTERS = 1024
"""A longer text is not a key, and is not hashed."""

PLAIN_KEY = re.compile(r"[!-~]+")
"""Visible ASCII, which an HTTP header transmits unchanged."""

WEAK_KEY_CHARACTERS = 20
"""A key written by hand that is shorter than this is reported as easy to guess."""

_NO_DIGEST = bytes(32)
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")


class KeyRecord(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One key of a user in the TOML file."""

    id: str
    sha256: str
    label: str = ""
    created_utc: AwareTime | None = None
    expires_utc: AwareTime | None = None

    def is_expired(self, now: datetime) -> bool:
        """Say whether the key has expired; it has at the very instant of its expiry."""
        return self.expires_utc is not None and self.expires_utc <= now


class KeyMatch(msgspec.Struct, frozen=True, kw_only=True):
    """The user of a key, and the key's id."""

    user: str
    key_id: str


class StoredKey(msgspec.Struct, frozen=True):
    """A key record with its digest, for comparison."""

    user: str
    record: KeyRecord
    digest: bytes


def is_sha256(text: str) -> bool:
    """Say whether `text` is a sha256 in hexadecimal."""
    return _SHA256.fullmatch(text) is not None


def hash_key(key: str) -> str:
    """Return the hash of a key in hexadecimal, as it is stored."""
    return hashlib.sha256(_bytes_of(key)).hexdigest()


def digest_of(key: str) -> bytes:
    """Return the digest that a key is compared by; a text too long for a key is not hashed."""
    return _NO_DIGEST if len(key) > MAX_KEY_CHARACTERS else hashlib.sha256(_bytes_of(key)).digest()


def is_same_digest(one: bytes, other: bytes) -> bool:
    """Compare two digests in constant time."""
    return hmac.compare_digest(one, other)


def find_stored(key: str, stored: Mapping[bytes, StoredKey]) -> StoredKey | None:
    """Return the record of this key by its digest; the timing reveals nothing of other keys."""
    if len(key) > MAX_KEY_CHARACTERS:
        return None
    digest = hashlib.sha256(_bytes_of(key)).digest()
    # The time of the lookup depends on the digest, which an attacker cannot steer towards another
    # one; the comparison that decides takes the same time for every key.
    found = stored.get(digest)
    is_same = hmac.compare_digest(_NO_DIGEST if found is None else found.digest, digest)
    return found if is_same else None


def _bytes_of(key: str) -> bytes:
    # Any text of a header or of JSON must hash without an error, including lone surrogates.
    return key.encode("utf-8", "surrogatepass")
