"""Log format, redaction and the rolling log file; no other module configures logging.

Every text that reaches a handler here is redacted of API keys, and has no character that could move
a terminal's cursor, forge a second line or reverse the reading order.
"""

import json
import logging
import logging.handlers
import math
import os
import re
import sys
import traceback
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path
from typing import Any, TextIO

import msgspec

from qms.disk.permissions import Rights, make_folder
from qms.disk.regular_files import open_regular, regular_reader
from qms.text.escapes import escape

LOG_PLACE = Path("logs") / "qms.log"
"""The rolling file, relative to the root."""

MAX_FIELD_CHARS = 4096
"""A longer field or message is cut: a log line is for reading."""

MAX_TRACEBACK_LINES = 200

_DAY_S = 86_400.0

_MAX_DEPTH = 4
"""Deeper containers are printed as text."""

_KEY = re.compile(r"qms(?:_|%5[fF])[A-Za-z0-9_-]{20,}")
_REDACTED = "qms_[redacted]"

_BARE = re.compile(r"[^\s\"=\\]+")

_STANDARD_ATTRIBUTES = frozenset(vars(logging.makeLogRecord({}))) | {
    "message",
    "asctime",
    "taskName",
    "color_message",  # uvicorn's coloured copy of the message
}


class LogOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Where logs go and how much is kept."""

    level: str = "info"
    file: Path | None = None
    max_bytes: int = 20 * 1024 * 1024
    max_days: int = 30
    keep: int = 5
    rights: Rights = Rights()


class ConsoleFormatter(logging.Formatter):
    """Render a record as one line of key=value, its traceback indented below."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, and one more for each line of the traceback."""
        fields = _fields(record)
        lines = [" ".join(f"{key}={_quote(value)}" for key, value in fields.items())]
        lines += [f"    {line}" for line in _traceback_lines(record)]
        return "\n".join(lines)


class JsonFormatter(logging.Formatter):
    """Render a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line; a traceback is one of its fields."""
        fields = _fields(record)
        if lines := _traceback_lines(record):
            fields["traceback"] = lines
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


class _LossReport:
    """Reports once, on standard error, that records are lost.

    The report of the standard library prints the record's arguments, which are not redacted.
    """

    def __init__(self, target: str) -> None:
        self._target = target
        self._is_reported = False

    def lost(self) -> None:
        if self._is_reported or sys.stderr is None:
            return
        self._is_reported = True
        kind = sys.exc_info()[0]
        reason = kind.__name__ if kind else "unknown"
        sys.stderr.write(f"log records for {self._target} are lost: {reason}\n")

    def kept(self) -> None:
        self._is_reported = False


class _Console(logging.StreamHandler[TextIO]):
    """Writes key=value lines to a stream."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self.setFormatter(ConsoleFormatter())
        self._loss = _LossReport("the console")

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: ARG002, N802 - inherited
        self._loss.lost()


class _RollingFile(logging.handlers.RotatingFileHandler):
    """Writes JSON lines to a file that rolls over when it is full or old.

    Older files are removed when there are too many, or when everything in one is too old.
    """

    def __init__(self, path: Path, options: "LogOptions") -> None:
        self._loss = _LossReport("the log file")
        self._max_age_s = options.max_days * _DAY_S
        self._began: float | None = None
        self._file_mode = options.rights.file_mode
        super().__init__(
            path,
            maxBytes=options.max_bytes,
            backupCount=max(1, options.keep),
            encoding="utf-8",
            delay=True,
        )
        self.setFormatter(JsonFormatter())

    def flush(self) -> None:
        super().flush()
        self._loss.kept()

    def _open(self) -> TextIOWrapper:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        descriptor = open_regular(Path(self.baseFilename), flags, self._file_mode)
        return open(descriptor, "a", encoding=self.encoding)  # noqa: PTH123 - of a descriptor

    def shouldRollover(self, record: logging.LogRecord) -> bool:  # noqa: N802 - inherited
        if self._began is None:
            self._began = _first_moment(Path(self.baseFilename)) or record.created
            self._remove_old(record.created)
        is_old = record.created - self._began > self._max_age_s
        return is_old or bool(super().shouldRollover(record))

    def doRollover(self) -> None:  # noqa: N802 - inherited
        try:
            super().doRollover()
        except PermissionError:
            # Windows, while another process reads the file: it grows until the reader closes it.
            return
        self._began = None

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: ARG002, N802 - inherited
        self._loss.lost()

    def _remove_old(self, now: float) -> None:
        for number in range(1, self.backupCount + 1):
            path = Path(f"{self.baseFilename}.{number}")
            with suppress(OSError):
                if now - path.stat().st_mtime > self._max_age_s:
                    path.unlink()


def _first_moment(path: Path) -> float | None:
    """Return when the first line of a log file was written."""
    try:
        with regular_reader(path) as file:
            fields = json.loads(file.readline(MAX_FIELD_CHARS))
        return datetime.fromisoformat(fields["time"]).timestamp()
    except (OSError, ValueError, KeyError, TypeError):
        return None


_installed: list[logging.Handler] = []

CHATTY = ("mcp", "sse_starlette", "faiss")
"""Libraries that log every session with its id, or how they load: only warnings are logged."""


def configure(options: LogOptions, stream: TextIO | None = None) -> None:
    """Send every log record to `stream` and to the rolling file, in place of an earlier setup.

    Without a stream, standard error is used if there is one: a Windows service has none.

    Raises:
        ValueError: the level is unknown.
        OSError: the folder of the log file cannot be created.
    """
    level = _level_number(options.level)
    handlers: list[logging.Handler] = []
    if (console := stream or sys.stderr) is not None:
        handlers.append(_Console(console))
    if options.file is not None:
        make_folder(options.file.parent, options.rights)
        handlers.append(_RollingFile(options.file, options))
    reset()
    root = logging.getLogger()
    root.setLevel(level)
    for name in CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)
    for handler in handlers:
        root.addHandler(handler)
    _installed.extend(handlers)


def set_level(level: str) -> None:
    """Change the log level.

    Raises:
        ValueError: the level is unknown.
    """
    logging.getLogger().setLevel(_level_number(level))


def reset() -> None:
    """Remove and close what `configure` installed."""
    while _installed:
        handler = _installed.pop()
        logging.getLogger().removeHandler(handler)
        handler.close()


def clean(text: str) -> str:
    """Return `text` without API keys, with every unsafe character written as an escape."""
    return escape(_KEY.sub(_REDACTED, text))


def _level_number(level: str) -> int:
    number = logging.getLevelNamesMapping().get(level.upper())
    if number is None:
        raise ValueError(f"unknown log level: {clean(level)}")
    return number


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    moment = datetime.fromtimestamp(record.created, UTC)
    fields: dict[str, Any] = {
        "time": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "level": record.levelname.lower(),
        "logger": clean(record.name),
        "message": _short(record.getMessage()),
    }
    for name, value in vars(record).items():
        if name in _STANDARD_ATTRIBUTES:
            continue
        key = _short(name)
        fields[f"{key}_" if key in fields else key] = _plain(value)
    return fields


def _plain(value: Any, depth: int = 0) -> Any:
    """Return a value that JSON can encode and that is safe to print."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if depth < _MAX_DEPTH and isinstance(value, Mapping):
        return {_short(str(key)): _plain(item, depth + 1) for key, item in value.items()}
    if depth < _MAX_DEPTH and isinstance(value, list | tuple | set | frozenset):
        return [_plain(item, depth + 1) for item in value]
    return _short(str(value))


def _short(text: str) -> str:
    # Redaction comes before the cut, which could leave half a key too short to be recognised.
    cleaned = clean(text)
    if len(cleaned) <= MAX_FIELD_CHARS:
        return cleaned
    return f"{cleaned[:MAX_FIELD_CHARS]}… ({len(cleaned)} characters)"


def _quote(value: Any) -> str:
    if isinstance(value, str):
        if _BARE.fullmatch(value):
            return value
        return '"' + value.replace('"', r"\"") + '"'
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return json.dumps(value)


def _traceback_lines(record: logging.LogRecord) -> list[str]:
    parts: list[str] = []
    if record.exc_info and record.exc_info[0] is not None:
        parts += traceback.format_exception(*record.exc_info)
    if record.stack_info:
        parts.append(record.stack_info)
    lines = [_short(line) for part in parts for line in part.rstrip("\n").split("\n")]
    if len(lines) > MAX_TRACEBACK_LINES:
        half = MAX_TRACEBACK_LINES // 2
        lines = [*lines[:half], f"… {len(lines) - 2 * half} lines …", *lines[-half:]]
    return lines
