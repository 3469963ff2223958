"""The base of the three-way merge: what `entries.jsonl` was when we last folded it.

`base.jsonl` is a byte copy of that file, `base.json` says which one, and carries the last good
version of entries whose line in the file is unreadable. Both are the server's own.

`base.json` holds the same line twice: with one of them damaged nothing is lost.

The base moves in one step, when `base.json` names the copy that was staged. Only then the copy gets
its name; until it has it, it is found under the temporary one.

`folding.json` names that copy earlier: it is written before the file that people edit is replaced,
and makes the copy last. Between the two a fold was cut off if they name different files.
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
        self._folder = folder
        self._meta_path = folder / "base.json"
        self._announced_path = folder / "folding.json"
        self.copy_path = folder / "base.jsonl"
        self.staged_path = folder / "base.jsonl.tmp"

    def read_meta(self) -> BaseMeta | None:
        """Return what was last folded, or None when nothing was or the file is damaged."""
        return self._read_twice(self._meta_path)

    def read_announced(self, meta: BaseMeta | None) -> BaseMeta | None:
        """Return what a fold announced after this base and did not make the base, or None."""
        announced = self._read_twice(self._announced_path)
        if announced is None or meta is None:
            return announced
        is_older = announced.folded_sequence < meta.folded_sequence
        return None if is_older or announced.sha256 == meta.sha256 else announced

    def read_copy(self, digest: str | None) -> bytes | None:
        """Return the copy that has this digest, or None; without a digest the one that is there."""
        copy = self._read(self.copy_path)
        if digest is None or (copy is not None and digest_of(copy) == digest):
            return copy
        staged = self._read(self.staged_path)
        return staged if staged is not None and digest_of(staged) == digest else None

    def finish(self) -> None:
        """Give the copy its name if the last fold did not come to that.

        Raises:
            OSError: it still stands under its temporary name.
        """
        meta = self.read_meta() if self.staged_path.exists() else None
        if meta is not None and digest_of(self._disk.read(self.staged_path)) == meta.sha256:
            self._disk.replace(self.staged_path, self.copy_path)

    def announce(self, meta: BaseMeta) -> None:
        """Say which file is about to be put in place, durably; its staged copy lasts from now on.

        Raises:
            OSError: it may or may not be announced.
        """
        self._write_twice(self._announced_path, meta)

    def withdraw(self) -> None:
        """Take back what was announced and not put in place.

        Raises:
            OSError: it may still be announced.
        """
        self._disk.remove(self._announced_path)
        self._disk.sync_folder(self._folder)

    def commit(self, meta: BaseMeta) -> None:
        """Make the staged copy the base."""
        self.write_meta(meta)
        self._disk.replace(self.staged_path, self.copy_path)

    def write_meta(self, meta: BaseMeta) -> None:
        """Put down what was folded, durably."""
        self._write_twice(self._meta_path, meta)

    def _read(self, path: Path) -> bytes | None:
        try:
            return self._disk.read(path)
        except FileNotFoundError:
            return None

    def _read_twice(self, path: Path) -> BaseMeta | None:
        data = self._read(path)
        if data is None:
            return None
        middle = len(data) // 2
        if data[:middle] != data[middle:]:
            log.warning("base damaged", extra={"file": path.name})
        for part in (data[:middle], data[middle:]):
            try:
                return _read_envelope(part)
            except (msgspec.MsgspecError, ValueError):
                continue
        return None

    def _write_twice(self, path: Path, meta: BaseMeta) -> None:
        base = msgspec.Raw(msgspec.json.encode(meta))
        envelope = _Envelope(_FORMAT, zlib.crc32(base), base)
        self._disk.put(path, (msgspec.json.encode(envelope) + b"\n") * 2)


def _read_envelope(data: bytes) -> BaseMeta:
    envelope = msgspec.json.decode(data, type=_Envelope)
    if envelope.format != _FORMAT or zlib.crc32(envelope.base) != envelope.crc32:
        raise ValueError("checksum or format")
    return msgspec.json.decode(envelope.base, type=BaseMeta)
