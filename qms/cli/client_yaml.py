"""YAML settings files of other programs: sets one mapping and keeps every other line as it is.

Only the layout that those programs write is changed: block mappings, indented with spaces.
"""

import json
from collections.abc import Mapping
from typing import Any

_USUAL_INDENT = 2


def put(text: str, place: str, name: str, value: Mapping[str, Any]) -> str:
    """Return the text with a mapping set as `name` below the top-level key `place`.

    Raises:
        ValueError: the text has another layout than the one that can be changed.
    """
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith(f"{place}:")]
    if len(starts) > 1 or any(line.lstrip(" ")[:1] == "\t" for line in lines) or "..." in lines:
        raise ValueError("its layout is not known; add the lines by hand")
    if not starts:
        return "\n".join([*lines, f"{place}:", *_block(name, value, _USUAL_INDENT), ""])
    start = starts[0]
    rest = lines[start].removeprefix(f"{place}:").partition("#")[0].strip()
    if rest not in ("", "{}"):
        raise ValueError(f"{place} is not a block; add the lines by hand")
    end = _end(lines, start, 0)
    indent = next((_depth(line) for line in lines[start + 1 : end] if _is_content(line)), 0)
    inside = _without(lines[start + 1 : end], name, indent)
    block = _block(name, value, indent or _USUAL_INDENT)
    head = lines[start].replace("{}", "").rstrip()
    return "\n".join([*lines[:start], head, *block, *inside, *lines[end:], ""])


def _block(name: str, value: Mapping[str, Any], indent: int) -> list[str]:
    """Return the lines of a mapping; JSON is YAML, so each value is written as JSON."""
    space = " " * indent
    inner = space + " " * _USUAL_INDENT
    fields = (f"{inner}{key}: {json.dumps(one, ensure_ascii=False)}" for key, one in value.items())
    return [f"{space}{name}:", *fields]


def _without(lines: list[str], name: str, indent: int) -> list[str]:
    """Return the lines of a mapping without one of its keys."""
    head = f"{' ' * indent}{name}:"
    start = next((number for number, line in enumerate(lines) if line.startswith(head)), None)
    if start is None:
        return lines
    end = _end(lines, start, indent)
    while not _is_content(lines[end - 1]):  # a comment before the next key is that key's
        end -= 1
    return lines[:start] + lines[end:]


def _end(lines: list[str], start: int, indent: int) -> int:
    """Return the number of the first line after a key's block."""
    later = range(start + 1, len(lines))
    found = (one for one in later if _is_content(lines[one]) and _depth(lines[one]) <= indent)
    return next(found, len(lines))


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _is_content(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")
