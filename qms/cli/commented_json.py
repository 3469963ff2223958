"""JSON as people write it into their settings: comments and trailing commas are read and kept."""

import json
import re
from collections.abc import Sequence
from typing import Any

import msgspec

_STRING = r'"(?:[^"\\\n]|\\.)*"'
_COMMENTS = re.compile(rf"{_STRING}|//[^\n]*|/\*.*?\*/", re.DOTALL)
_LAST_COMMAS = re.compile(rf"{_STRING}|,(?=\s*[}}\]])", re.DOTALL)
_SPACE = re.compile(r"[ \t\r\n]*")
_INDENT = re.compile(r"^([ \t]+)\S", re.MULTILINE)
_USUAL_INDENT = "  "


class _Member(msgspec.Struct, frozen=True):
    """Where a member of an object begins, and where its value does and ends."""

    key_start: int
    start: int
    end: int


def read_object(text: str) -> dict[str, Any]:
    """Return the object of a text, an empty one for an empty text.

    Raises:
        ValueError: it holds something else.
    """
    if not text.strip():
        return {}
    values = json.loads(_plain(text))
    if not isinstance(values, dict):
        raise ValueError("it is no object")
    return values


def put(text: str, path: Sequence[str], value: Any) -> str:
    """Return a text with a value at a place in its object, and all else as it was.

    Raises:
        ValueError: the text holds no object, or something else than one on the way.
    """
    if "\n" not in text.strip() and _plain(text) == text:
        return _laid_out(read_object(text), path, value)
    read_object(text)
    plain = _plain(text)
    start = _after_space(plain, 0)
    for depth, name in enumerate(path):
        if plain[start] != "{":
            raise ValueError(f"{path[depth - 1]} is no object")
        members, end = _members(plain, start)
        if name not in members:
            return _with_member(
                text, (start, end), members, {name: _nested(path[depth + 1 :], value)}
            )
        found = members[name]
        start = found.start
    shown = _shown(text, value, _line_indent(text, found.key_start))
    return text[: found.start] + shown + text[found.end :]


def _plain(text: str) -> str:
    """Return the text with blanks for what is no JSON, so that everything stays in its place."""
    text = text.replace("\ufeff", " ", 1) if text.startswith("\ufeff") else text
    return _LAST_COMMAS.sub(_blank, _COMMENTS.sub(_blank, text))


def _blank(found: "re.Match[str]") -> str:
    return found[0] if found[0].startswith('"') else re.sub(r"[^\n]", " ", found[0])


def _after_space(plain: str, place: int) -> int:
    found = _SPACE.match(plain, place)
    assert found is not None
    return found.end()


def _members(plain: str, start: int) -> tuple[dict[str, _Member], int]:
    """Return the members of the object that starts there, and where its closing brace stands."""
    decode = json.JSONDecoder().raw_decode
    members: dict[str, _Member] = {}
    place = _after_space(plain, start + 1)
    while plain[place] != "}":
        name, after_name = decode(plain, place)
        value_start = _after_space(plain, _after_space(plain, after_name) + 1)
        _, end = decode(plain, value_start)
        members[name] = _Member(place, value_start, end)
        place = _after_space(plain, end)
        if plain[place] == ",":
            place = _after_space(plain, place + 1)
    return members, place


def _with_member(
    text: str, span: tuple[int, int], members: dict[str, _Member], added: dict[str, Any]
) -> str:
    """Return the text with a member at the end of the object, after the comments there."""
    start, end = span
    outer = _line_indent(text, start)
    indent = outer + _unit(text)
    kept = text[start + 1 : end]
    if members:
        last = max(members.values(), key=lambda member: member.end)
        indent = _line_indent(text, last.key_start)
        kept = text[start + 1 : last.end] + "," + _without_comma(text[last.end : end])
    line_end = "\r\n" if "\r\n" in text else "\n"
    ((name, value),) = added.items()
    shown = f"{json.dumps(name, ensure_ascii=False)}: {_shown(text, value, indent)}"
    kept = kept.rstrip()
    return f"{text[: start + 1]}{kept}{line_end}{indent}{shown}{line_end}{outer}{text[end:]}"


def _without_comma(tail: str) -> str:
    """Return what follows the last value, comments only, without the comma after it."""
    place = _after_space(_COMMENTS.sub(_blank, tail), 0)
    return tail[:place] + tail[place + 1 :] if tail[place : place + 1] == "," else tail


def _line_indent(text: str, place: int) -> str:
    """Return what the line of a place begins with."""
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    found = _INDENT.search(text)
    return found[1] if found else _USUAL_INDENT


def _shown(text: str, value: Any, indent: str) -> str:
    line_end = "\r\n" if "\r\n" in text else "\n"
    shown = json.dumps(value, ensure_ascii=False, indent=_unit(text))
    return shown.replace("\n", line_end + indent)


def _nested(path: Sequence[str], value: Any) -> Any:
    for name in reversed(path):
        value = {name: value}
    return value


def _laid_out(values: dict[str, Any], path: Sequence[str], value: Any) -> str:
    """Return an object that stood on one line, with a value at a place, on several."""
    inner = values
    for name in path[:-1]:
        inner = inner.setdefault(name, {})
        if not isinstance(inner, dict):
            raise ValueError(f"{name} is no object")
    inner[path[-1]] = value
    return json.dumps(values, ensure_ascii=False, indent=_USUAL_INDENT) + "\n"
