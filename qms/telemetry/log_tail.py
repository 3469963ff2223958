"""Reads the latest lines of the log file, and redacts them again."""

import logging
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from qms.disk.regular_files import regular_reader
from qms.memory.errors import UNDECODABLE
from qms.telemetry.logs import clean

Fields = dict[str, Any]
"""The fields of a log line by name."""

TAIL_BYTES = 4 * 1024 * 1024
"""At most this much of each file is read."""


def tail(
    path: Path,
    *,
    size: int,
    level: str,
    text: str | None = None,
    takes: Callable[[Fields], bool] = lambda _fields: True,
) -> list[Fields]:
    """Return the latest lines of at least `level` that contain `text` and that `takes` accepts."""
    least = logging.getLevelNamesMapping()[level.upper()]
    found: deque[Fields] = deque(maxlen=size)
    # The previous file comes first: a file that was just started would show nothing.
    for file in (path.with_name(f"{path.name}.1"), path):
        for line in _last_lines(file):
            fields = _fields(line)
            if not fields or _number(fields) < least or not takes(fields):
                continue
            if text is None or _contains(line, text):
                found.append(fields)
    return list(found)


def _last_lines(path: Path) -> list[str]:
    try:
        with regular_reader(path) as file:
            start = max(0, file.seek(0, 2) - TAIL_BYTES)
            file.seek(start)
            lines = file.read(TAIL_BYTES).decode("utf-8", "replace").split("\n")
    except FileNotFoundError:
        return []
    return [clean(line) for line in (lines[1:] if start else lines)]


def _fields(line: str) -> Fields | None:
    try:
        return msgspec.json.decode(line, type=Fields)
    except UNDECODABLE:
        return None


def _number(fields: Fields) -> int:
    return logging.getLevelNamesMapping().get(str(fields.get("level")).upper(), 0)


def _contains(line: str, text: str) -> bool:
    return text.casefold() in line.casefold()
