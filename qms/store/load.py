"""Loads a store: restores every acknowledged entry from file, base and journal."""

import logging
from datetime import UTC, datetime

import msgspec

from qms.disk.disk import FileIdentity
from qms.memory.entry import SCHEMA_VERSION
from qms.memory.errors import UNDECODABLE
from qms.memory.lines import decode_line
from qms.store.base import BaseMeta, digest_of
from qms.store.conflicts import conflict_line
from qms.store.entries_file import FileState
from qms.store.file_image import FileReading, Image, trusted_image
from qms.store.file_state import Held, InterruptedFold, StoreFiles
from qms.store.journal import Journal, JournalContent, JournalRecord
from qms.store.merge import own_lines
from qms.store.reload import (
    copy_before_migration,
    freeze_if_newer,
    log_bad_lines,
    read_file,
    reason_to_hold,
    reload,
    settle,
)
from qms.store.view import Record, bulk_view

log = logging.getLogger(__name__)

_UNSEEN = FileIdentity(-1, -1, -1)
"""The identity of a file that was not read since it was folded."""

_READ_ATTEMPTS = 100

_SHOWN_MISSING = 20
"""How many of the lost writes are named."""


class _Start(msgspec.Struct, frozen=True):
    """Where loading starts: trusted bytes, or a file to be read strictly."""

    trusted: bytes | None
    is_current: bool


class _Known(msgspec.Struct, frozen=True):
    """A file as it was folded: its lines, and its entries, including the kept ones."""

    image: Image
    records: list[Record]


def load(files: StoreFiles, journal: Journal) -> list[str]:
    """Load writer and file state from disk; return notices for `problems`."""
    meta = files.base.read_meta()
    content = journal.load()
    try:
        journal.start(content)
    except OSError as error:
        files.writer.refuse(error)
    state = _read_file(files)
    digest = digest_of(state.data) if state.data is not None else ""
    notes = _sweep(files, meta, state, content.records)
    if content.damaged:
        files.changes.distrust()
        notes.append(_damage(journal, content, meta))
    files.interrupted = _find_cut_off(files, meta, digest)
    if files.interrupted is not None:
        files.needs_base = True
        meta = files.interrupted.meta if files.interrupted.is_in_place else meta
    start = _choose(files, meta, state, digest)
    if meta is not None and _load_trusted(files, meta, start, state):
        _replay(files, content.records, after=meta.folded_sequence, is_current=start.is_current)
    else:
        if meta is not None and not start.is_current:
            notes.append("baseLost: deletions made while the server was down cannot be detected")
        _load_strictly(files, state, digest, content.records, meta, is_edited=not start.is_current)
    files.writer.last_write_utc = _last_write(files, state, content.records)
    return notes


def _damage(journal: Journal, content: JournalContent, meta: BaseMeta | None) -> str:
    """Return the notice about a damaged journal: the lost writes, and where the file is."""
    missing = content.missing(meta.folded_sequence if meta else None)
    shown = ", ".join(map(str, missing[:_SHOWN_MISSING]))
    more = f" and {len(missing) - _SHOWN_MISSING} more" if len(missing) > _SHOWN_MISSING else ""
    lost = f"writes {shown}{more} cannot be read" if missing else "no complete write is missing"
    kept = journal.kept_aside or journal.path.name
    return (
        f"journalDamaged: {lost}; {len(content.records)} others were replayed;"
        f" the damaged file is .qms/{kept}"
    )


def _last_write(
    files: StoreFiles, state: FileState, records: list[JournalRecord]
) -> datetime | None:
    """Return when the store was last written: by the journal, else by the file's time."""
    if records:
        return records[-1].change_set.at_utc
    if state.identity is None or not len(files.writer.view):
        return None
    return datetime.fromtimestamp(state.identity.mtime_ns / 1e9, UTC)


def _read_file(files: StoreFiles) -> FileState:
    for _ in range(_READ_ATTEMPTS):
        state = files.entries.read()
        if state is not None:
            return state
    raise OSError("entries.jsonl changes faster than it can be read")


def _sweep(
    files: StoreFiles, meta: BaseMeta | None, state: FileState, records: list[JournalRecord]
) -> list[str]:
    """Delete the files that an interrupted fold left; set aside one that holds a save."""
    try:
        files.entries.forget_all()
        left = files.entries.left_over()
        if left is None:
            return []
        is_swapped = meta is None or digest_of(state.data or b"") != meta.sha256
        if not is_swapped or _is_own(files, left, meta, state, records):
            files.entries.drop_staged()
            return []
        kept = files.entries.keep_left_over()
    except OSError:
        return []  # a read-only folder: the next start cleans up
    reason = "entries.jsonl was saved during an interrupted fold"
    return [f"saveKeptAside: {reason}; the save is in .qms/{kept.name}"]


def _is_own(
    files: StoreFiles,
    left: bytes,
    meta: BaseMeta | None,
    state: FileState,
    records: list[JournalRecord],
) -> bool:
    """Say whether a file holds only known lines: then a fold wrote it, not a person."""
    known = {
        *(state.data or b"").split(b"\n"),
        *(files.base.read_copy(meta.sha256 if meta else None) or b"").split(b"\n"),
        *(bytes(change.entry) for record in records for change in record.change_set.changes),
    }
    *lines, torn = left.split(b"\n")
    return known.issuperset(lines) and any(line.startswith(torn) for line in known)


def _choose(files: StoreFiles, meta: BaseMeta | None, state: FileState, digest: str) -> _Start:
    if meta is not None and digest == meta.sha256:
        return _Start(state.data or b"", is_current=True)
    copy = files.base.read_copy(meta.sha256 if meta else None)
    if meta is not None:
        return _Start(copy, is_current=False)
    # Even without `base.json` the copy shows whether the file is unchanged.
    return _Start(None, is_current=copy is not None and digest_of(copy) == digest)


def _find_cut_off(files: StoreFiles, meta: BaseMeta | None, digest: str) -> InterruptedFold | None:
    """Return the fold that was announced last and not finished."""
    announced = files.base.read_announced(meta)
    if announced is None:
        return None
    if digest == announced.sha256:
        return InterruptedFold(announced, Image(), is_in_place=True)
    if meta is not None and digest != meta.sha256:
        copy = files.base.read_copy(announced.sha256)
        known = _trusted(files, copy, announced) if copy is not None else None
        if known is not None:
            return InterruptedFold(announced, known.image, is_in_place=None)
    return InterruptedFold(announced, Image(), is_in_place=False)


def _trusted(files: StoreFiles, data: bytes, meta: BaseMeta) -> _Known | None:
    """Return the content of a folded file, or None when it has another format."""
    try:
        image, records = trusted_image(data, meta.other_lines, files.reader(None))
        kept = [Record.from_line(text.encode("utf-8")) for text in meta.kept]
    except UNDECODABLE:
        log.warning("base has another format", extra={"project": files.project})
        return None
    image.digest, image.identity = meta.sha256, _UNSEEN
    image.kept = {record.header.id: record.line for record in kept}
    return _Known(image, records + kept)


def _load_trusted(files: StoreFiles, meta: BaseMeta, start: _Start, state: FileState) -> bool:
    """Load trusted bytes; False when there are none, or they have another format."""
    known = _trusted(files, start.trusted, meta) if start.trusted is not None else None
    if known is None:
        return False
    if start.is_current:
        known.image.identity = state.identity
    log_bad_lines(files.project, Image(), known.image)
    files.image = known.image
    files.state = meta.sha256
    files.writer.view = bulk_view(files.project, known.records, meta.folded_sequence)
    versions = ((one.header.id, one.header.schema_version) for one in known.records)
    files.newer = [entry_id for entry_id, version in versions if version > SCHEMA_VERSION]
    freeze_if_newer(files)
    return True


def _replay(
    files: StoreFiles, records: list[JournalRecord], *, after: int, is_current: bool
) -> None:
    """Replay the journal on the base, and then apply hand edits."""
    files.moved = files.writer.replay(records, after=after)
    for entry_id in files.moved:
        files.image.kept.pop(entry_id, None)  # it has a line of its own, or was removed
    if is_current and files.moved:
        _keep_undone(files)
        files.image.identity = _UNSEEN
    if files.image.identity is _UNSEEN:
        reload(files)


def _keep_undone(files: StoreFiles) -> None:
    """Keep conflict copies of hand edits that were applied and are no longer in the file.

    A person restored the older file, or a power loss did.
    """
    in_file = files.image.lines_by_id()
    undone = {
        entry_id: record
        for entry_id, line in files.moved.items()
        if line is not None
        and in_file.get(entry_id, line) != line
        and (record := files.writer.view.get(entry_id)) is not None
        and in_file.get(entry_id) != record.line
    }
    files.conflicts.extend(
        [
            conflict_line(entry_id, record, "edit undone by hand", files.image.identity)
            for entry_id, record in undone.items()
        ]
    )


def _load_strictly(
    files: StoreFiles,
    state: FileState,
    digest: str,
    records: list[JournalRecord],
    meta: BaseMeta | None,
    *,
    is_edited: bool,
) -> None:
    """Load a file without a usable base: every line may be written by hand."""
    files.is_read_anew = True
    files.changes.distrust()
    reading = read_file(files, state)
    reading.image.digest = digest
    # Without a base the log of folds may still know the file; a new store has no log.
    files.state = digest if meta is not None or files.folds.exists() else ""
    state_before = files.state
    reason = reason_to_hold(files, reading, {}, set())
    if reason is not None:
        files.held = Held(reason, state.identity)
        files.image.identity = _UNSEEN
        files.writer.replay(records, after=meta.folded_sequence if meta else 0)
        return
    copy_before_migration(files, reading)
    loaded = [Record(good.header, good.line) for good in reading.fresh.values()]
    sequence = meta.folded_sequence if meta else 0
    files.writer.view = bulk_view(files.project, loaded, sequence)
    if is_edited:
        _keep_overwritten(files, reading, records, sequence)
    files.writer.replay(records, after=sequence)
    with files.writer.lock:
        settle(files, reading)
    files.state = state_before
    files.needs_base = state.data is not None or bool(loaded)


def _keep_overwritten(
    files: StoreFiles, reading: FileReading, records: list[JournalRecord], after: int
) -> None:
    """Keep conflict copies of lines that the journal overwrites without a base to compare."""
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
        files.conflicts.extend(lines)
