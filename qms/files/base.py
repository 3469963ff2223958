"""The base of the three-way merge: what `entries.jsonl` was when we last folded it.

`base.jsonl` is a byte copy of that file, `base.json` says which one, and carries the last good
version of entries whose line in the file is unreadable. Both are the server's own.
"""

import hashlib
import logging
import zlib
from pathlib import Path

import msgspec

from qms.fsio.disk import Disk

log = logging.getLogger(__name__)

_FORMAT = 1


class BaseMeta(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Which file was folded, and what cannot be read from it."""

    folded_sequence: int
    sha256: str
    entries: int
    other_lines: list[int]
    """Positions of lines that are no entries: unreadable, blank, or outlived by a later one."""
    kept: list[str]
    """Last good lines of entries whose line in the file is unreadable."""


class _Envelope(msgspec.Struct, frozen=True):
    format: int
    crc32: int
    base: msgspec.Raw


def digest_of(data: bytes) -> str:
    """Return the digest by which two states of the file are told apart."""
    return hashlib.sha256(data).hexdigest()


class BaseFiles:
    """The two files of one store's base."""

    def __init__(self, disk: Disk, folder: Path) -> None:
        self._disk = disk
        self._meta_path = folder / "base.json"
        self.copy_path = folder / "base.jsonl"

    def read_meta(self) -> BaseMeta | None:
        """Return what was last folded, or None when nothing was or the file is damaged."""
        try:
            envelope = msgspec.json.decode(self._disk.read(self._meta_path), type=_Envelope)
            if envelope.format != _FORMAT or zlib.crc32(envelope.base) != envelope.crc32:
                raise ValueError("checksum or format")
            return msgspec.json.decode(envelope.base, type=BaseMeta)
        except FileNotFoundError:
            return None
        except (msgspec.MsgspecError, ValueError) as error:
            log.warning("base not usable", extra={"reason": str(error)})
            return None

    def read_copy(self) -> bytes | None:
        """Return the copy of the file, or None when there is none."""
        try:
            return self._disk.read(self.copy_path)
        except FileNotFoundError:
            return None

    def commit(self, meta: BaseMeta) -> None:
        """Put the staged copy in place and say what it is."""
        self._disk.replace(self.copy_path.with_name(self.copy_path.name + ".tmp"), self.copy_path)
        self.write_meta(meta)

    def write_meta(self, meta: BaseMeta) -> None:
        """Put down what was folded, durably."""
        base = msgspec.Raw(msgspec.json.encode(meta))
        envelope = _Envelope(_FORMAT, zlib.crc32(base), base)
        self._disk.put(self._meta_path, msgspec.json.encode(envelope))
