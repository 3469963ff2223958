"""The log of folds (`.qms/folds.jsonl`): identifies the earlier states of `entries.jsonl`.

A line is one step from a state of the file to the next: a fold or a hand edit. It has a mark (a
short hash) of each line that the step replaced, and no text. A save from an editor's older buffer
is compared with the state that the buffer was read from.

It is a cache: without it an older buffer counts as an edit, and the versions that the edit
overwrites are kept as conflict copies.
"""

import hashlib
import logging
import zlib
from collections.abc import Collection, Container, Iterable, Mapping
from datetime import datetime
from pathlib import Path

import msgspec

from qms.disk.disk import Disk
from qms.memory.errors import UNDECODABLE

log = logging.getLogger(__name__)

MAX_BYTES = 1 << 20
"""Beyond this size only the newest half is kept: some ten thousand changed entries."""

MAX_MARKS = 5_000
"""How many entries of one step are recorded; a larger step is partial."""

_MARK_BYTES = 12


class Step(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One step of the file; a state is named by the digest of its bytes, no file by ``""``."""

    source: str
    target: str
    at_utc: datetime
    before: dict[str, str | None]
    """The mark of each changed entry's line before the step, by id; None is no line."""
    by_hand: bool = False
    completed: tuple[str, ...] = ()
    """Entries of a fold that were written by hand: the fold only completed their lines."""
    is_partial: bool = False
    """Whether it changed more entries than are recorded."""

    def is_by_hand(self, entry_id: str) -> bool:
        """Say whether the step's version of an entry was written by hand."""
        return self.by_hand or entry_id in self.completed


class _Envelope(msgspec.Struct, frozen=True):
    crc32: int
    step: msgspec.Raw


_steps = msgspec.json.Decoder(Step)
_envelopes = msgspec.json.Decoder(_Envelope)


def mark_of(line: bytes | None) -> str | None:
    """Return the mark of an entry's line, or None for no line."""
    return None if line is None else hashlib.blake2b(line, digest_size=_MARK_BYTES).hexdigest()


def step_of(
    lines: Mapping[str, bytes | None],
    *,
    source: str,
    target: str,
    at_utc: datetime,
    by_hand: bool = False,
    completed: Container[str] = (),
) -> Step:
    """Return the step that replaced these lines, by id."""
    ids = list(lines)[:MAX_MARKS]
    return Step(
        source=source,
        target=target,
        at_utc=at_utc,
        before={entry_id: mark_of(lines[entry_id]) for entry_id in ids},
        by_hand=by_hand,
        completed=tuple(entry_id for entry_id in ids if entry_id in completed),
        is_partial=len(lines) > MAX_MARKS,
    )


class FoldLog:
    """The log of one store; the caller holds the lock of the file side."""

    def __init__(self, disk: Disk, path: Path, *, max_bytes: int = MAX_BYTES) -> None:
        self._disk = disk
        self._path = path
        self._max_bytes = max_bytes

    def exists(self) -> bool:
        """Say whether there is a log."""
        return self._path.exists()

    def extend(self, steps: Iterable[Step]) -> None:
        """Append steps, durably; drop the oldest ones when the file is full.

        Raises:
            OSError: none of them counts.
        """
        lines = [_encode(step) for step in steps]
        if not lines:
            return
        identity = self._disk.identity(self._path)
        data = b"".join(line + b"\n" for line in lines)
        if identity is not None and identity.size + len(data) > self._max_bytes:
            self._disk.put(self._path, _newest([*self._lines(), *lines], self._max_bytes // 2))
            return
        is_torn = self._disk.read_tail(self._path, 1) not in (b"", b"\n")
        self._disk.append(self._path, (b"\n" if is_torn else b"") + data)

    def steps_to(self, state: str) -> list[Step]:
        """Return the known steps that led to a state, oldest first."""
        found: list[Step] = []
        for line in reversed(self._lines()):
            step = _decode(line)
            if step is not None and step.target == state:
                found.append(step)
                state = step.source
        return found[::-1]

    def drop(self, ids: Collection[str]) -> None:
        """Remove entries from all steps, and drop unreadable lines.

        Raises:
            OSError: the file is as it was.
        """
        steps = [step for line in self._lines() if (step := _decode(line)) is not None]
        if not steps and not self.exists():
            return
        rest = [_without(step, ids) for step in steps]
        self._disk.put(self._path, b"".join(_encode(step) + b"\n" for step in rest))

    def _lines(self) -> list[bytes]:
        try:
            data = self._disk.read(self._path)
        except FileNotFoundError:
            return []
        except OSError as error:  # it is a cache: the store loads without it
            log.warning(
                "fold log not readable", extra={"file": str(self._path), "reason": str(error)}
            )
            return []
        return [line for line in data.split(b"\n") if line]


def _newest(lines: list[bytes], max_bytes: int) -> bytes:
    """Return the newest lines that are smaller than this together."""
    size, first = 0, len(lines)
    while first and size + len(lines[first - 1]) < max_bytes:
        first -= 1
        size += len(lines[first]) + 1
    return b"".join(line + b"\n" for line in lines[first:])


def _without(step: Step, ids: Collection[str]) -> Step:
    before = {one: mark for one, mark in step.before.items() if one not in ids}
    completed = tuple(one for one in step.completed if one not in ids)
    return msgspec.structs.replace(step, before=before, completed=completed)


def _encode(step: Step) -> bytes:
    text = msgspec.Raw(msgspec.json.encode(step))
    return msgspec.json.encode(_Envelope(zlib.crc32(text), text))


def _decode(line: bytes) -> Step | None:
    try:
        envelope = _envelopes.decode(line)
        return _steps.decode(envelope.step) if zlib.crc32(envelope.step) == envelope.crc32 else None
    except UNDECODABLE:
        return None
