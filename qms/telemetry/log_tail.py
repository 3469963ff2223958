"""The end of the log file, read back: its latest lines, redacted once more."""

import logging
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from qms.telemetry.logs import clean

Fields = dict[str, Any]
"""A line of the log by its names."""

TAIL_BYTES = 4 * 1024 * 1024
"""No more of each file is read."""


def tail(
    path: Path,
    *,
    size: int,
    level: str,
    text: str | None = None,
    takes: Callable[[Fields], bool] = lambda _fields: True,
) -> list[Fields]:
    """Return the latest lines from `level` on that hold `text`, if `takes` says so, in order."""
    least = logging.getLevelNamesMapping()[level.upper()]
    found: deque[Fields] = deque(maxlen=size)
    # What was set aside last comes first: a file that has just begun would show nothing.
    for file in (path.with_name(f"{path.name}.1"), path):
        for line in _last_lines(file):
            fields = _fields(line)
            if not fields or _number(fields) < least or not takes(fields):
                continue
            if text is None or _holds(line, text):
                found.append(fields)
    return list(found)


def _last_lines(path: Path) -> list[str]:
    try:
        with path.open("rb") as file:
            start = max(0, file.seek(0, 2) - TAIL_BYTES)
            file.seek(start)
            lines = file.read(TAIL_BYTES).decode("utf-8", "replace").split("\n")
    except FileNotFoundError:
        return []
    return [clean(line) for line in (lines[1:] if start else lines)]


def _fields(line: str) -> Fields | None:
    try:
        return msgspec.json.decode(line, type=Fields)
    except msgspec.DecodeError:
        return None


def _number(fields: Fields) -> int:
    return logging.getLevelNamesMapping().get(str(fields.get("level")).upper(), 0)


def _holds(line: str, text: str) -> bool:
    return text.casefold() in line.casefold()
