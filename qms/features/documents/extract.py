"""Reads a file into pieces: plain text here, every other format in a locked worker."""

import os
import threading

import msgspec

from qms.features.documents.document_formats import (
    DocumentFormat,
    FileToRead,
    format_of,
    has_wide_mark,
)
from qms.features.documents.parsers import plain
from qms.features.documents.parsers.serve import Answer
from qms.features.documents.pieces import MEGABYTE, Extracted, Piece, ReadLimits
from qms.memory.errors import InvalidInputError, UnavailableError, invalid
from qms.sandbox.walls import Bounds
from qms.sandbox.worker import End, Worker, WorkerError

FILE_BYTES = 25 * MEGABYTE
"""The largest file that is read."""

_BOUNDS = Bounds(memory_bytes=512 * MEGABYTE, deadline_s=60.0, message_bytes=128 * MEGABYTE)
_PARSERS = "qms.features.documents.parsers"
_WORK = {
    DocumentFormat.PDF: f"{_PARSERS}.pdf:work",
    DocumentFormat.DOCX: f"{_PARSERS}.docx:work",
    DocumentFormat.PPTX: f"{_PARSERS}.pptx:work",
    DocumentFormat.XLSX: f"{_PARSERS}.xlsx:work",
    DocumentFormat.EPUB: f"{_PARSERS}.epub:work",
    DocumentFormat.HTML: f"{_PARSERS}.html:work",
}
_CHARSET = f"{_PARSERS}.charset:work"
_PIECES = {
    DocumentFormat.TEXT: plain.paragraphs,
    DocumentFormat.MARKDOWN: plain.markdown,
    DocumentFormat.JSON: plain.rows,
    DocumentFormat.CSV: plain.rows,
    DocumentFormat.CODE: plain.rows,
}
_WAIT_S = 120.0
"""How long a file waits for a worker; two deadlines, since others may use theirs up."""


class ReadFile(msgspec.Struct, frozen=True):
    """A file as it was read."""

    format: DocumentFormat
    extracted: Extracted


class Extractor:
    """Reads files, as many at once as there are cores; any thread may call it."""

    def __init__(self, bounds: Bounds = _BOUNDS, limits: ReadLimits | None = None) -> None:
        self._bounds = bounds
        self._limits = limits or ReadLimits()
        self._slots = threading.BoundedSemaphore(max(1, os.cpu_count() or 1))

    def read(self, file: FileToRead) -> ReadFile:
        """Return the text of a file in pieces.

        Raises:
            InvalidInputError: it cannot be read, or is beyond a limit.
            UnavailableError: too many files are being read.
        """
        if len(file.data) > FILE_BYTES:
            reason = f"the file has {len(file.data):,} bytes, at most {FILE_BYTES:,} are read"
            raise invalid("data", reason, limit="documentBytes", maximum=FILE_BYTES)
        found = format_of(file)
        work = _WORK.get(found)
        if work is not None and found is not DocumentFormat.HTML:
            extracted = self._in_worker(work, file.data)
        else:
            extracted = self._read_text(found, file.data)
        if not any(piece.text.strip() for piece in extracted.pieces):
            raise invalid("data", "; ".join(["no text was found in it", *extracted.warnings]))
        return ReadFile(found, extracted)

    def _read_text(self, found: DocumentFormat, data: bytes) -> Extracted:
        text, warnings = self._decoded(data)
        if found is DocumentFormat.HTML:
            page = self._in_worker(_WORK[found], text.encode("utf-8", "replace"))
            return msgspec.structs.replace(page, warnings=[*warnings, *page.warnings])
        if len(text) > self._limits.text_bytes:
            most = self._limits.text_bytes
            raise invalid("data", f"it has more than {most:,} characters of text")
        pieces: list[Piece] = _PIECES[found](plain.unified(text))
        return Extracted(pieces=pieces, warnings=warnings)

    def _decoded(self, data: bytes) -> tuple[str, list[str]]:
        """Return a text by its byte order mark, else as UTF-8, else as a worker finds."""
        try:
            if has_wide_mark(data):
                return data.decode("utf-16"), []
            if b"\0" not in data:
                return data.decode("utf-8-sig"), []
        except UnicodeDecodeError:
            pass  # another encoding: see below
        found = self._in_worker(_CHARSET, data)
        return found.pieces[0].text, found.warnings

    def _in_worker(self, work: str, data: bytes) -> Extracted:
        if not self._slots.acquire(timeout=_WAIT_S):
            raise UnavailableError("too many documents are being read: try again later")
        try:
            with Worker(work, self._bounds) as worker:
                worker.send(msgspec.msgpack.encode(self._limits))
                worker.send(data)
                answer = msgspec.msgpack.decode(worker.receive(), type=Answer)
        except WorkerError as error:
            raise _unreadable(_reason(error)) from None
        except msgspec.ValidationError:
            raise _unreadable("its reader gave no usable answer") from None
        finally:
            self._slots.release()
        if answer.extracted is None:
            raise _unreadable(answer.refusal)
        return answer.extracted


def _reason(error: WorkerError) -> str:
    if error.end is End.CRASH:
        return f"its reader crashed; it is damaged, or needs too much memory ({error})"
    return str(error)


def _unreadable(reason: str) -> InvalidInputError:
    return invalid("data", f"the document cannot be read: {reason}")
