"""Compare two recordings, but for the differences that a file allows."""

import difflib
import re
from pathlib import Path

CONTEXT_LINES = 6


def compare(before: Path, after: Path, allowed: Path | None = None, *, some: bool = False) -> str:
    """Return what differs between two recordings as a unified diff, empty when nothing does.

    With `some`, the second holds some parts only: what it lacks is no difference.
    """
    rules = _rules(allowed.read_text(encoding="utf-8")) if allowed else []
    names = sorted(_files(after) if some else _files(before) | _files(after))
    return "".join(_difference(name, before / name, after / name, rules) for name in names)


def _difference(
    name: str, before: Path, after: Path, rules: list[tuple[str, re.Pattern[str]]]
) -> str:
    meant = [pattern for file, pattern in rules if re.fullmatch(file, name)]
    old, new = _lines(before), _lines(after)
    if old == new:
        return ""
    if meant and all(any(pattern.search(line) for pattern in meant) for line in _changed(old, new)):
        return ""
    return "".join(
        f"{line}\n"
        for line in difflib.unified_diff(
            old, new, f"a/{name}", f"b/{name}", n=CONTEXT_LINES, lineterm=""
        )
    )


def _changed(old: list[str], new: list[str]) -> list[str]:
    """Return the lines that one of both has alone, without the heads of the differences."""
    lines = list(difflib.unified_diff(old, new, n=0, lineterm=""))[2:]
    return [line[1:] for line in lines if not line.startswith("@@")]


def _rules(text: str) -> list[tuple[str, re.Pattern[str]]]:
    """Read lines of `FILE: PATTERN`, both regular expressions; `#` begins a comment."""
    rules = []
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            file, _, pattern = line.partition(": ")
            rules.append((file, re.compile(pattern)))
    return rules


def _files(folder: Path) -> set[str]:
    return {one.relative_to(folder).as_posix() for one in folder.rglob("*") if one.is_file()}


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n") if path.exists() else []
