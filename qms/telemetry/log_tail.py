"""The end of the log file, read back: its latest lines, redacted once more."""

import logging
from collections import deque
from pathlib import Path
from typing import Any

import msgspec

from qms.telemetry.logs import clean

TAIL_BYTES = 4 * 1024 * 1024
"""No more of each file is read."""


def tail(path: Path, *, size: int, level: str, text: str | None = None) -> list[dict[str, Any]]:
    """Return the latest lines from `level` on that hold `text`, the oldest first."""
    least = logging.getLevelNamesMapping()[level.upper()]
    found: deque[dict[str, Any]] = deque(maxlen=size)
    # What was set aside last comes first: a file that has just begun would show nothing.
    for file in (path.with_name(f"{path.name}.1"), path):
        for line in _last_lines(file):
            fields = _fields(line)
            if fields and _number(fields) >= least and (text is None or _holds(line, text)):
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


def _fields(line: str) -> dict[str, Any] | None:
    try:
        return msgspec.json.decode(line, type=dict[str, Any])
    except msgspec.DecodeError:
        return None


def _number(fields: dict[str, Any]) -> int:
    return logging.getLevelNamesMapping().get(str(fields.get("level")).upper(), 0)


def _holds(line: str, text: str) -> bool:
    return text.casefold() in line.casefold()
