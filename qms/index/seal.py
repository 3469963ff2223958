"""Small JSON files of the indexes, sealed: a flipped byte makes them unreadable, never wrong."""

import hashlib

import msgspec


class _Sealed(msgspec.Struct, frozen=True):
    sha256: str
    content: msgspec.Raw


def seal(content: bytes) -> bytes:
    """Return JSON with a sha256 of itself beside it."""
    digest = hashlib.sha256(content).hexdigest()
    return msgspec.json.encode(_Sealed(digest, msgspec.Raw(content)))


def unseal(data: bytes) -> bytes:
    """Return JSON whose seal is whole.

    Raises:
        ValueError: it is not.
    """
    sealed = msgspec.json.decode(data, type=_Sealed)
    content = bytes(sealed.content)
    if hashlib.sha256(content).hexdigest() != sealed.sha256:
        raise ValueError("it does not match its checksum")
    return content
