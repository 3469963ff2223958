"""The base of the three-way merge: `entries.jsonl` as the last fold wrote it.

`base.jsonl` is a byte copy of that file. `base.json` names the copy by its digest and carries the
last good version of entries whose line in the file is unreadable. Both belong to the server.

`base.json` holds the same line twice: if one is damaged, nothing is lost.

The base moves in one step: when `base.json` names the staged copy. After that the copy is renamed;
until then it is found under its temporary name.

`folding.json` names the staged copy earlier, before the file that people edit is replaced, and
makes the copy durable. If the two name different files, a fold was interrupted.
"""

import hashlib
import logging
import zlib
from pathlib import Path

import msgspec

from qms.disk.damage import set_aside
from qms.disk.disk import Disk
from qms.memory.errors import UNDECODABLE

log = logging.getLogger(__name__)

_FORMAT = 1


class BaseMeta(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Which file was folded, and what cannot be read from it."""

    folded_sequence: int
    sha256: str
    entries: int
    other_lines: list[int]
    """Positions of lines that are no entries: unreadable, blank, or a repeated id."""
    kept: list[str]
    """Last good lines of entries whose line in the file is unreadable."""


class _Envelope(msgspec.Struct, frozen=True):
    format: int
    crc32: int
    base: msgspec.Raw


def digest_of(data: bytes) -> str:
    """Return the digest that identifies a state of the file."""
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
        """Return what a fold announced after this base and did not finish, or None."""
        announced = self._read_twice(self._announced_path)
        if announced is None or meta is None:
            return announced
        is_older = announced.folded_sequence < meta.folded_sequence
        return None if is_older or announced.sha256 == meta.sha256 else announced

    def read_copy(self, digest: str | None) -> bytes | None:
        """Return the copy with this digest, or None; without a digest, any copy there is."""
        copy = self._read(self.copy_path)
        if digest is None or (copy is not None and digest_of(copy) == digest):
            return copy
        staged = self._read(self.staged_path)
        return staged if staged is not None and digest_of(staged) == digest else None

    def is_whole(self) -> bool:
        """Say whether the copy is the one that `base.json` names; True where there is none yet."""
        meta = self.read_meta()
        return meta is None or self.read_copy(meta.sha256) is not None

    def finish(self) -> None:
        """Rename the staged copy if the last fold did not get that far.

        Raises:
            OSError: it still has its temporary name.
        """
        meta = self.read_meta() if self.staged_path.exists() else None
        if meta is not None and digest_of(self._disk.read(self.staged_path)) == meta.sha256:
            self._disk.replace(self.staged_path, self.copy_path)

    def announce(self, meta: BaseMeta) -> None:
        """Record durably which file is about to be put in place, and keep its staged copy.

        Raises:
            OSError: it may or may not be announced.
        """
        self._write_twice(self._announced_path, meta)

    def withdraw(self) -> None:
        """Withdraw an announced file that was not put in place.

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
        """Record durably what was folded."""
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
        fault: Exception = ValueError("empty")
        for part in (data[:middle], data[middle:]):
            try:
                return _read_envelope(part)
            except UNDECODABLE as error:
                fault = error
        set_aside(self._disk, path, fault)
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
