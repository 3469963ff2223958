"""API keys at rest: a hash, never the key."""

import hashlib
import hmac
import re
from collections.abc import Mapping
from datetime import datetime

import msgspec

from qms.domain.relations import AwareTime

MAX_KEY_CHARACTERS = 1024
"""A longer one is nobody's key; it is not even hashed."""

PLAIN_KEY = re.compile(r"[!-~]+")
"""What an HTTP header carries unchanged: visible ASCII."""

WEAK_KEY_CHARACTERS = 20
"""A key written by hand that is shorter than this is reported as easy to guess."""

_NOBODYS = bytes(32)
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")


class KeyRecord(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One key of a user, as the TOML holds it."""

    id: str
    sha256: str
    label: str = ""
    created_utc: AwareTime | None = None
    expires_utc: AwareTime | None = None

    def is_expired(self, now: datetime) -> bool:
        """Say whether the key is past its end: from that very instant on."""
        return self.expires_utc is not None and self.expires_utc <= now


class KeyMatch(msgspec.Struct, frozen=True, kw_only=True):
    """Whose key it is."""

    user: str
    key_id: str


class StoredKey(msgspec.Struct, frozen=True):
    """A key record made ready for comparison."""

    user: str
    record: KeyRecord
    digest: bytes


def is_sha256(text: str) -> bool:
    """Say whether `text` is a sha256 in hexadecimal."""
    return _SHA256.fullmatch(text) is not None


def hash_key(key: str) -> str:
    """Return what is kept of a key."""
    return hashlib.sha256(_bytes_of(key)).hexdigest()


def digest_of(key: str) -> bytes:
    """Return what a key is compared by; one that is too long to be any is not even hashed."""
    return _NOBODYS if len(key) > MAX_KEY_CHARACTERS else hashlib.sha256(_bytes_of(key)).digest()


def is_same_digest(one: bytes, other: bytes) -> bool:
    """Compare in a time that tells nothing of the difference."""
    return hmac.compare_digest(one, other)


def find_stored(key: str, stored: Mapping[bytes, StoredKey]) -> StoredKey | None:
    """Return the record of this key, by its digest, in a time that tells nothing of the others."""
    if len(key) > MAX_KEY_CHARACTERS:
        return None
    digest = hashlib.sha256(_bytes_of(key)).digest()
    # How far a look-up gets depends on the digest, which nobody can steer towards another one; the
    # comparison that decides takes the same time for every key.
    found = stored.get(digest)
    is_same = hmac.compare_digest(_NOBODYS if found is None else found.digest, digest)
    return found if is_same else None


def _bytes_of(key: str) -> bytes:
    # Whatever a header or a JSON text can hold, lone surrogates too, must hash without an error.
    return key.encode("utf-8", "surrogatepass")
