"""JSON settings files of other programs: sets a value and keeps the others; comments refuse it."""

import json
import re
from collections.abc import Sequence
from typing import Any

# An unterminated string or comment is matched to its end, so that its content starts no other one.
_STRING = r'"(?:[^"\\\n]|\\.)*+"?'
_COMMENTS = re.compile(rf"{_STRING}|//[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)", re.DOTALL)
_TRAILING_COMMAS = re.compile(rf"{_STRING}|,(?=\s*[}}\]])", re.DOTALL)
_INDENT = re.compile(r"^([ \t]+)\S", re.MULTILINE)
_USUAL_INDENT = "  "
_MARK = "\ufeff"


def has_comments(text: str) -> bool:
    """Return whether a text is JSON but for comments and trailing commas, which a rewrite loses."""
    bare = text.removeprefix(_MARK)
    plain = _TRAILING_COMMAS.sub(_without, _COMMENTS.sub(_without, bare))
    return plain != bare and _is_json(plain)


def read_object(text: str) -> dict[str, Any]:
    """Parse an object; an empty text is an empty object.

    Raises:
        ValueError: the text is not a JSON object.
    """
    text = text.removeprefix(_MARK)
    if not text.strip():
        return {}
    try:
        values = json.loads(text, object_pairs_hook=_distinct)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(values, dict):
        raise ValueError("it is not an object")
    return values


def put(text: str, path: Sequence[str], value: Any) -> str:
    """Return the text with a value set at a path of its object, indented as before.

    Raises:
        ValueError: the text, or a value on the path, is not an object.
    """
    values = inner = read_object(text)
    for name in path[:-1]:
        inner = inner.setdefault(name, {})
        if not isinstance(inner, dict):
            raise ValueError(f"{name} is not an object")
    inner[path[-1]] = value
    found = _INDENT.search(text)
    indent = found[1] if found else _USUAL_INDENT
    shown = json.dumps(values, ensure_ascii=False, indent=indent) + "\n"
    mark = _MARK if text.startswith(_MARK) else ""
    return mark + (shown.replace("\n", "\r\n") if "\r\n" in text else shown)


def _without(found: "re.Match[str]") -> str:
    return found[0] if found[0].startswith('"') else " "


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _distinct(members: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(members)
    if len(values) < len(members):
        raise ValueError("a name is given twice")
    return values
