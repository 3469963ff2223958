"""Opening a store: file, base and journal to the entries that were acknowledged."""

import logging
from datetime import UTC, datetime

import msgspec

from qms.codec.lines import decode_line
from qms.domain.entry import SCHEMA_VERSION
from qms.files.base import BaseMeta, digest_of
from qms.files.entries import FileState
from qms.files.journal import Journal, JournalRecord
from qms.fsio.disk import FileIdentity
from qms.store.conflicts import conflict_line
from qms.store.file_side import CutOff, FileSide, Held
from qms.store.image import FileReading, Image, trusted_image
from qms.store.merge import own_lines
from qms.store.reload import (
    copy_before_migration,
    freeze_if_newer,
    read_file,
    reason_to_hold,
    reload,
    settle,
)
from qms.store.view import Record, bulk_view

log = logging.getLogger(__name__)

_UNSEEN = FileIdentity(-1, -1, -1)
"""Stands for a file that was there when it was folded and has not been looked at since."""

_READ_ATTEMPTS = 100


class _Start(msgspec.Struct, frozen=True):
    """Where loading begins: bytes that are known already, or a file to be read strictly."""

    trusted: bytes | None
    is_current: bool


class _Known(msgspec.Struct, frozen=True):
    """A file as it was folded: its lines, and its entries with those of unreadable lines."""

    image: Image
    records: list[Record]


def load(side: FileSide, journal: Journal) -> list[str]:
    """Fill writer and file side from disk; return what a person should know about it."""
    meta = side.base.read_meta()
    content = journal.load()
    try:
        journal.start(content)
    except OSError as error:
        side.writer.refuse(error)
    state = _read_file(side)
    digest = digest_of(state.data) if state.data is not None else ""
    notes = _sweep(side, meta, state, content.records)
    if content.damaged:
        notes.append("journalDamaged: what stood behind the damage was kept aside in .qms")
    side.cut_off = _find_cut_off(side, meta, digest)
    if side.cut_off is not None:
        side.needs_base = True
        meta = side.cut_off.meta if side.cut_off.is_in_place else meta
    start = _choose(side, meta, state, digest)
    if meta is not None and _load_trusted(side, meta, start, state):
        _replay(side, content.records, after=meta.folded_sequence, is_current=start.is_current)
    else:
        if meta is not None and not start.is_current:
            notes.append("baseLost: deletions made while the server was down cannot be told")
        _load_strictly(side, state, digest, content.records, meta, is_edited=not start.is_current)
    side.writer.last_write_utc = _last_write(side, state, content.records)
    return notes


def _last_write(side: FileSide, state: FileState, records: list[JournalRecord]) -> datetime | None:
    """Return when the store was last written: what the journal lacks, the file's time tells."""
    if records:
        return records[-1].change_set.at_utc
    if state.identity is None or not len(side.writer.view):
        return None
    return datetime.fromtimestamp(state.identity.mtime_ns / 1e9, UTC)


def _read_file(side: FileSide) -> FileState:
    for _ in range(_READ_ATTEMPTS):
        state = side.entries.read()
        if state is not None:
            return state
    raise OSError("entries.jsonl changes faster than it can be read")


def _sweep(
    side: FileSide, meta: BaseMeta | None, state: FileState, records: list[JournalRecord]
) -> list[str]:
    """Clear away what an interrupted fold left; keep it when somebody saved it meanwhile."""
    try:
        side.entries.forget_all()
        left = side.entries.left_over()
        if left is None:
            return []
        is_swapped = meta is None or digest_of(state.data or b"") != meta.sha256
        if not is_swapped or _is_own(side, left, meta, state, records):
            side.entries.drop_staged()
            return []
        kept = side.entries.keep_left_over()
    except OSError:
        return []  # a read-only folder: the next start sweeps
    return [f"saveKeptAside: a save met an interrupted fold and was kept as .qms/{kept.name}"]


def _is_own(
    side: FileSide,
    left: bytes,
    meta: BaseMeta | None,
    state: FileState,
    records: list[JournalRecord],
) -> bool:
    """Say whether a file holds nothing but lines that are known: then a fold was to replace it."""
    known = {
        *(state.data or b"").split(b"\n"),
        *(side.base.read_copy(meta.sha256 if meta else None) or b"").split(b"\n"),
        *(bytes(change.entry) for record in records for change in record.change_set.changes),
    }
    *lines, torn = left.split(b"\n")
    return known.issuperset(lines) and any(line.startswith(torn) for line in known)


def _choose(side: FileSide, meta: BaseMeta | None, state: FileState, digest: str) -> _Start:
    if meta is not None and digest == meta.sha256:
        return _Start(state.data or b"", is_current=True)
    copy = side.base.read_copy(meta.sha256 if meta else None)
    if meta is not None:
        return _Start(copy, is_current=False)
    # Without what it says the copy still tells whether the file is as it was.
    return _Start(None, is_current=copy is not None and digest_of(copy) == digest)


def _find_cut_off(side: FileSide, meta: BaseMeta | None, digest: str) -> CutOff | None:
    """Return the fold that was announced last and did not come to its end."""
    announced = side.base.read_announced(meta)
    if announced is None:
        return None
    if digest == announced.sha256:
        return CutOff(announced, Image(), is_in_place=True)
    if meta is not None and digest != meta.sha256:
        copy = side.base.read_copy(announced.sha256)
        known = _trusted(side, copy, announced) if copy is not None else None
        if known is not None:
            return CutOff(announced, known.image, is_in_place=None)
    return CutOff(announced, Image(), is_in_place=False)


def _trusted(side: FileSide, data: bytes, meta: BaseMeta) -> _Known | None:
    """Return what a file held when it was folded, or None when it is of another format."""
    try:
        image, records = trusted_image(data, meta.other_lines, side.reader(None))
        kept = [Record.from_line(text.encode("utf-8")) for text in meta.kept]
    except msgspec.MsgspecError:
        log.warning("base of another version", extra={"project": side.project})
        return None
    image.digest, image.identity = meta.sha256, _UNSEEN
    image.kept = {record.header.id: record.line for record in kept}
    return _Known(image, records + kept)


def _load_trusted(side: FileSide, meta: BaseMeta, start: _Start, state: FileState) -> bool:
    """Load bytes that are known already; False when there are none, or none of this format."""
    known = _trusted(side, start.trusted, meta) if start.trusted is not None else None
    if known is None:
        return False
    if start.is_current:
        known.image.identity = state.identity
    side.image = known.image
    side.writer.view = bulk_view(side.project, known.records, meta.folded_sequence)
    versions = ((one.header.id, one.header.schema_version) for one in known.records)
    side.newer = [entry_id for entry_id, version in versions if version > SCHEMA_VERSION]
    freeze_if_newer(side)
    return True


def _replay(side: FileSide, records: list[JournalRecord], *, after: int, is_current: bool) -> None:
    """Bring the journal onto the base, and then what a person changed since."""
    side.moved = side.writer.replay(records, after=after)
    for entry_id in side.moved:
        side.image.kept.pop(entry_id, None)  # it got a line of its own, or was taken out
    if is_current and side.moved:
        _keep_undone(side)
        side.image.identity = _UNSEEN
    if side.image.identity is _UNSEEN:
        reload(side)


def _keep_undone(side: FileSide) -> None:
    """Keep copies of hand edits that were taken and are no longer in the file.

    A person went back to the file before them, or it lost them together with the power.
    """
    in_file = side.image.lines_by_id()
    undone = {
        entry_id: record
        for entry_id, line in side.moved.items()
        if line is not None
        and in_file.get(entry_id, line) != line
        and (record := side.writer.view.get(entry_id)) is not None
    }
    side.conflicts.extend(
        [
            conflict_line(entry_id, record, "edit undone by hand", side.image.identity)
            for entry_id, record in undone.items()
        ]
    )


def _load_strictly(
    side: FileSide,
    state: FileState,
    digest: str,
    records: list[JournalRecord],
    meta: BaseMeta | None,
    *,
    is_edited: bool,
) -> None:
    """Load a file that was never folded here, or whose base is lost: all of it is a person's."""
    side.is_read_anew = True
    side.changes.distrust()
    reading = read_file(side, state)
    reading.image.digest = digest
    reason = reason_to_hold(side, reading, {}, set())
    if reason is not None:
        side.held = Held(reason, state.identity)
        side.image.identity = _UNSEEN
        side.writer.replay(records, after=meta.folded_sequence if meta else 0)
        return
    copy_before_migration(side, reading)
    loaded = [Record(good.header, good.line) for good in reading.fresh.values()]
    sequence = meta.folded_sequence if meta else 0
    side.writer.view = bulk_view(side.project, loaded, sequence)
    if is_edited:
        _keep_overwritten(side, reading, records, sequence)
    side.writer.replay(records, after=sequence)
    with side.writer.lock:
        settle(side, reading)
    side.needs_base = state.data is not None or bool(loaded)


def _keep_overwritten(
    side: FileSide, reading: FileReading, records: list[JournalRecord], after: int
) -> None:
    """Keep a copy of lines that the journal goes over without a base to compare with."""
    newer = [record for record in records if record.sequence > after]
    last = {change.id: change for record in newer for change in record.change_set.changes}
    own = own_lines(newer)
    lines = [
        conflict_line(entry_id, Record(good.header, good.line), "base lost", reading.image.identity)
        for entry_id, change in last.items()
        if (good := reading.fresh.get(entry_id)) is not None
        and good.line not in own.get(entry_id, ())
        and decode_line(good.line) != decode_line(bytes(change.entry))
    ]
    if lines:
        side.conflicts.extend(lines)
