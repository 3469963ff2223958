"""Reads one line of `entries.jsonl` strictly: a person may have edited it."""

import re
from collections.abc import Callable
from datetime import datetime

import msgspec

from qms.memory import migrations
from qms.memory.entry import SCHEMA_VERSION, Document, Header
from qms.memory.errors import InvalidInputError
from qms.memory.limits import Limits
from qms.memory.lines import encode_line, read_strictly
from qms.memory.validation import check, complete, header_of, normalise

_BLANK = b" \t\r"
_BOM = b"\xef\xbb\xbf"
_ID = re.compile(rb'"id"\s*:\s*"([^"\\]{1,200})"')
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")

_CODES = {
    "encoding": "badEncoding",
    "syntax": "notJson",
    "number": "badNumber",
    "depth": "tooDeep",
    "duplicateKey": "duplicateKey",
}
NEWER_SCHEMA = "newerSchema"
"""The code of a line whose schema version is unknown and that cannot be read either."""
_FIELD_CODES = {"kind": "unknownKind", "id": "foreignProject", "project": "foreignProject"}


class GoodLine(msgspec.Struct, frozen=True, gc=False):
    """A valid entry; `line` differs from the text in the file when the server completed it."""

    header: Header
    line: bytes
    rewritten: bool = False
    migrated: bool = False
    newer: bool = False


class BadLine(msgspec.Struct, frozen=True, gc=False):
    """A line that is not a valid entry: the reason, and its id if one was found."""

    code: str
    reason: str
    entry_id: str | None = None


def bare(raw: bytes) -> bytes:
    """Return a line without byte order mark, carriage return and surrounding blanks."""
    raw = raw.removeprefix(_BOM)
    if raw[:1] == b"{" and raw[-1:] == b"}":
        return raw
    return raw.strip(_BLANK)


def is_utf16(data: bytes) -> bool:
    """Say whether a whole file is in UTF-16, which is not read."""
    return data.startswith(_UTF16_MARKS)


class LineReader(msgspec.Struct, frozen=True, kw_only=True):
    """Reads the lines of a project, with its limits and the time of its file."""

    project: str
    limits: Limits
    instant: datetime

    def read(self, line: bytes, local_id: Callable[[], str]) -> GoodLine | BadLine:
        """Read a bare line strictly; `local_id` is called when it has no id."""
        if len(line) > self.limits.line_bytes:
            return _bad(
                line,
                "tooLong",
                f"{len(line)} bytes are over the limit lineBytes of {self.limits.line_bytes}",
            )
        try:
            value = read_strictly(line, self.limits)
            if not isinstance(value, dict):
                return _bad(line, "notObject", "a line must be one JSON object")
        except InvalidInputError as error:
            return _bad(line, _code_of(error), error.message)
        try:
            return self._read_document(value, line, local_id)
        except InvalidInputError as error:
            newer = migrations.is_newer(value)
            return _bad(line, NEWER_SCHEMA if newer else _code_of(error), error.message)

    def _read_document(
        self, document: Document, line: bytes, local_id: Callable[[], str]
    ) -> GoodLine:
        newer = migrations.is_newer(document)
        current = migrations.migrate(document)
        if newer:
            current = {**document, "schemaVersion": SCHEMA_VERSION}
        named = bool(current.get("id"))
        current = complete(
            current,
            project=self.project,
            local_id="-" if named else local_id(),
            instant=self.instant,
        )
        # A text over the limit of requests still loads, and is reported.
        check(current, self.project, self.limits, known=current)
        if newer:
            return GoodLine(header_of(current), line, newer=True)
        if current is document:
            return GoodLine(header_of(current), line)
        stored = normalise(current, like=document)
        return GoodLine(
            header_of(stored),
            encode_line(stored),
            rewritten=True,
            migrated=migrations.is_older(document),
        )


def _code_of(error: InvalidInputError) -> str:
    reason = error.details.get("reason")
    if isinstance(reason, str):
        return _CODES.get(reason, "invalidEntry")
    return _FIELD_CODES.get(str(error.details.get("field")), "invalidEntry")


def _bad(line: bytes, code: str, reason: str) -> BadLine:
    found = _ID.search(line)
    entry_id = found.group(1).decode("utf-8", "replace") if found else None
    return BadLine(code, reason, entry_id)
