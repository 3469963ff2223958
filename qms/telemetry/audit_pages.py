"""Reads pages of the audit log from its end, newest records first."""

import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

import msgspec

from qms.disk.regular_files import regular_reader
from qms.telemetry.audit_chain import AuditRecord, read_line

MAX_SCANNED = 100_000
"""At most this many records are read for one page; the next page continues after them."""

CHUNK_BYTES = 1 << 16


class AuditFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Conditions on a record; None matches any. Since is inclusive, until exclusive."""

    hidden_projects: frozenset[str] = frozenset()
    project: str | None = None
    user: str | None = None
    command: str | None = None
    since_utc: datetime | None = None
    until_utc: datetime | None = None

    def takes(self, record: AuditRecord) -> bool:
        """Say whether a record matches."""
        return (
            record.project not in self.hidden_projects
            and self.project in (None, record.project)
            and self.user in (None, record.user)
            and self.command in (None, record.command)
            and (self.since_utc is None or record.at_utc >= self.since_utc)
            and (self.until_utc is None or record.at_utc < self.until_utc)
        )


class RecordPage(msgspec.Struct, frozen=True):
    """Records, newest first, and the sequence before which the next page begins."""

    records: list[AuditRecord]
    next_before: int | None


def newest_records(
    path: Path,
    wanted: AuditFilter,
    *,
    size: int,
    before: int | None = None,
    max_scanned: int = MAX_SCANNED,
    chunk_bytes: int = CHUNK_BYTES,
) -> RecordPage:
    """Return the newest matching records before the one with sequence `before`."""
    found: list[AuditRecord] = []
    scanned, last = 0, None
    for record in _records_from_end(path, chunk_bytes):
        if before is not None and record.seq >= before:
            continue
        if len(found) == size or scanned == max_scanned:
            return RecordPage(found, last)
        scanned, last = scanned + 1, record.seq
        if wanted.takes(record):
            found.append(record)
    return RecordPage(found, None)


def _records_from_end(path: Path, chunk_bytes: int) -> Iterator[AuditRecord]:
    try:
        with regular_reader(path) as file:
            for line in _lines_from_end(file, chunk_bytes):
                # `verify_file` reports lines that are not records.
                if (record := read_line(line)) is not None:
                    yield record
    except FileNotFoundError:
        return


def _lines_from_end(file: BinaryIO, chunk_bytes: int) -> Iterator[bytes]:
    """Yield the whole lines of a file, last first, without a torn line at the end."""
    position = file.seek(0, os.SEEK_END)
    rest, is_whole = b"", False
    while position > 0:
        size = min(chunk_bytes, position)
        position = file.seek(position - size)
        rest, *lines = (file.read(size) + rest).split(b"\n")
        for line in reversed(lines):
            if is_whole:
                yield line + b"\n"
            is_whole = True
    if is_whole:
        yield rest + b"\n"
