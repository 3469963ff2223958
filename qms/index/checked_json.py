"""JSON with a checksum, for small index files: a flipped byte is detected."""

import hashlib

import msgspec


class _Sealed(msgspec.Struct, frozen=True):
    sha256: str
    content: msgspec.Raw


def seal(content: bytes) -> bytes:
    """Return JSON wrapped together with its sha256."""
    digest = hashlib.sha256(content).hexdigest()
    return msgspec.json.encode(_Sealed(digest, msgspec.Raw(content)))


def unseal(data: bytes) -> bytes:
    """Return the JSON inside a wrapper after checking its sha256.

    Raises:
        ValueError: the checksum does not match.
    """
    sealed = msgspec.json.decode(data, type=_Sealed)
    content = bytes(sealed.content)
    if hashlib.sha256(content).hexdigest() != sealed.sha256:
        raise ValueError("it does not match its checksum")
    return content
