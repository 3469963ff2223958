"""What a life leaves behind: files on disk, audit records, log lines and metrics."""

import contextlib
import json
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.wire.layout import laid_out
from tools.wire.stable import Placeholders, Sheet

TEXTS = {".jsonl", ".json", ".toml", ".gitignore", ".head", ".key", ".txt", ".csv", ".md"}

BY_NAME_ONLY = ("indexes/", "logs/qms.log", "/folds.jsonl", ".qms/lock", "/folding.json")
"""Files whose content depends on when the background work was done, or on the machine."""

UNTOLD = "/.qms/previous-"
"""Files that are not even named: how many of them there are depends on when folds were made."""

TIMING = (
    re.compile(r"^Started server process"),
    re.compile(r"^Finished server process"),
)
"""Log messages that are left out: each has the number of the process in it."""

FOREIGN = ("watchdog", "asyncio")
"""Loggers of libraries whose lines depend on timing; names of all others are left out."""

_PAIR = re.compile(r'(\w+)=("(?:[^"\\]|\\.)*"|\S*)')
COUNTED = "qms_mcp_requests_total"
"""The metric whose values are told: how often each command was answered, and how."""

UNCOUNTED = ('command="health"', 'command="listBackups"')
"""Commands that the recorder and memoryctl repeat until something is done."""

_SAMPLE = re.compile(r"^(?P<name>\w+)(?:\{(?P<labels>.*)\})? (?P<value>\S+)$")


def tree(root: Path, known: Placeholders) -> Iterator[tuple[str, str]]:
    """Give the names and modes below a root, and the content of its text files."""
    sheet = known.sheet()
    names, contents = [], []
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root).as_posix()
        if UNTOLD in relative:
            continue
        mode = stat.filemode(path.stat().st_mode)
        names.append(f"{mode} {sheet.text(_plain_name(relative))}")
        if path.is_file() and _is_told(relative, path):
            contents.append(f"=== {sheet.text(relative)}\n{_content(path, sheet)}")
    yield f"disk/{root.name}-names.txt", "\n".join(sorted(set(names))) + "\n"
    yield f"disk/{root.name}-contents.txt", "\n".join(contents)


def log_lines(text: str, known: Placeholders) -> list[str]:
    """Return every kind of log line once, sorted: level, message and the names of its fields."""
    kinds = set()
    for line in text.splitlines():
        record = _record(line)
        message = str(record.pop("message", line))
        if any(pattern.search(message) for pattern in TIMING):
            continue
        if str(record.get("logger", "")).startswith(FOREIGN):
            continue
        level = record.pop("level", "")
        names = " ".join(sorted(set(record) - {"time", "logger"}))
        kinds.add(f"{level}: {known.sheet().text(message)} [{names}]")
    return sorted(kinds)


def metric_lines(text: str) -> str:
    """Return what each metric is: help and type, its labels, and the counts of commands."""
    lines: dict[str, None] = {}
    for line in text.splitlines():
        found = _SAMPLE.match(line)
        if found and (found["name"] != COUNTED or any(name in line for name in UNCOUNTED)):
            labels = found["labels"] or ""
            if found["name"].endswith("_bucket"):
                labels = re.sub(r'(?<!le)="[^"]*"', '="*"', labels)
            lines[f"{found['name']}{{{labels}}}"] = None
        else:
            lines[line] = None
    return "\n".join(lines) + "\n"


def _record(line: str) -> dict[str, Any]:
    if line.startswith("{"):
        record: dict[str, Any] = json.loads(line)
        return record
    return {name: value.strip('"') for name, value in _PAIR.findall(line)}


def _is_told(relative: str, path: Path) -> bool:
    if any(part in f"/{relative}" for part in BY_NAME_ONLY):
        return False
    return path.suffix in TEXTS or path.name in TEXTS


def _of_the_living(usage: dict[str, Any], entries: Path) -> dict[str, Any]:
    """Return the usage of entries that are still there; when others leave depends on timing."""
    text = entries.read_text(encoding="utf-8")
    living = {name: use for name, use in usage["entries"].items() if f'"{name}"' in text}
    return {**usage, "entries": living}


def _plain_name(relative: str) -> str:
    """Return the name of a file; those of an index are told by the folder alone."""
    return re.sub(r"(indexes/[^/]+)/.*", r"\1/*", relative)


def _content(path: Path, sheet: Sheet) -> str:
    text = path.read_text(encoding="utf-8", errors="backslashreplace")
    if path.suffix == ".json":
        with contextlib.suppress(ValueError):
            value = json.loads(text)
            if path.name == "usage.json":
                value = _of_the_living(value, path.parent.parent / "entries.jsonl")
            return laid_out(sheet.value(value)) + "\n"
    lines = []
    for line in text.splitlines():
        try:
            lines.append(laid_out(sheet.value(json.loads(line))))
        except ValueError:
            lines.append(sheet.text(line))
    return "\n".join(lines) + "\n"
