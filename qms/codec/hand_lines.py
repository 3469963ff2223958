"""Reading one line of `entries.jsonl` that a person may have written."""

import re
from collections.abc import Callable
from datetime import datetime

import msgspec

from qms.codec import migrate
from qms.codec.documents import check, complete, header_of, normalise
from qms.codec.lines import encode_line, read_strictly
from qms.domain.entry import SCHEMA_VERSION, Document, Header
from qms.domain.errors import InvalidInputError
from qms.domain.limits import Limits

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
    """An entry; `line` differs from the person's text when the server has to complete it."""

    header: Header
    line: bytes
    rewritten: bool = False
    migrated: bool = False
    newer: bool = False


class BadLine(msgspec.Struct, frozen=True, gc=False):
    """Text that is no entry, why, and the id it seems to have had."""

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
    """What is needed to read a project's lines: its name, the limits, and the file's time."""

    project: str
    limits: Limits
    instant: datetime

    def read(self, line: bytes, local_id: Callable[[], str]) -> GoodLine | BadLine:
        """Read a bare line strictly; `local_id` is asked when it names no id."""
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
            newer = migrate.is_newer(value)
            return _bad(line, NEWER_SCHEMA if newer else _code_of(error), error.message)

    def _read_document(
        self, document: Document, line: bytes, local_id: Callable[[], str]
    ) -> GoodLine:
        newer = migrate.is_newer(document)
        current = migrate.migrate(document)
        if newer:
            current = {**document, "schemaVersion": SCHEMA_VERSION}
        named = bool(current.get("id"))
        current = complete(
            current,
            project=self.project,
            local_id="-" if named else local_id(),
            instant=self.instant,
        )
        check(current, self.project, self.limits)
        if newer:
            return GoodLine(header_of(current), line, newer=True)
        if current is document:
            return GoodLine(header_of(current), line)
        stored = normalise(current, like=document)
        return GoodLine(
            header_of(stored),
            encode_line(stored),
            rewritten=True,
            migrated=migrate.is_older(document),
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
