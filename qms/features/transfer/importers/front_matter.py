"""Reads the front matter of a Markdown file: the subset of YAML that is common there."""

import re
from collections.abc import Iterator
from typing import Any

from qms.memory.errors import InvalidInputError
from qms.memory.limits import DEFAULT_LIMITS
from qms.memory.lines import read_strictly

LIST_ITEM = "- "

_BORDER = "---"
_BLANKS = " \t"
_NAME = re.compile(r"[A-Za-z_][\w -]*")
_BLOCK = re.compile(r"(?P<style>[|>])[+-]?")
_COMMENT = re.compile(r"\s#\s")

Front = dict[str, Any]


def read_front(text: str) -> tuple[Front, str]:
    """Return the front matter of a text, and the text after it.

    Raises:
        InvalidInputError: a line of it is neither a field nor part of one.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    written, rest = _split(text)
    front: Front = {}
    name = ""
    lines = _Lines(written)
    for line in lines:
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        if stripped.startswith(LIST_ITEM) and isinstance(front.get(name), list):
            front[name].append(_value(stripped.removeprefix(LIST_ITEM)))
        elif (field := _field(line.rstrip())) is not None:
            name = field[0]
            front[name] = _field_value(field[1], lines)
        else:
            raise InvalidInputError(
                f"the front matter has an invalid line {line[:64]!r}", field="front"
            )
    return front, rest.strip("\n")


def _split(text: str) -> tuple[list[str], str]:
    """Return the lines between the borders, and the text after them."""
    first, _, rest = text.partition("\n")
    if first.rstrip(_BLANKS) != _BORDER:
        return [], text
    lines = rest.split("\n")
    for number, line in enumerate(lines):
        if line.rstrip(_BLANKS) == _BORDER:
            return lines[:number], "\n".join(lines[number + 1 :])
    return [], text


def _field(line: str) -> tuple[str, str] | None:
    """Return the name and the value of a field, or None for another line."""
    name, colon, value = line.partition(":")
    name = name.rstrip(_BLANKS)
    if not colon or value[:1] not in ("", *_BLANKS) or not _NAME.fullmatch(name):
        return None
    return name, value.lstrip(_BLANKS)


class _Lines:
    """Iterates over lines, and returns indented ones as a block."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._next = 0

    def __iter__(self) -> Iterator[str]:
        while self._next < len(self._lines):
            self._next += 1
            yield self._lines[self._next - 1]

    def indented(self) -> list[str]:
        """Return the lines up to the first that is not indented."""
        start = self._next
        while self._next < len(self._lines) and self._lines[self._next][:1] in ("", " "):
            self._next += 1
        return [line.strip() for line in self._lines[start : self._next]]


def _field_value(text: str, lines: _Lines) -> Any:
    if not text:
        return []
    if block := _BLOCK.fullmatch(text.strip()):
        return ("\n" if block["style"] == "|" else " ").join(lines.indented()).strip()
    return _value(text)


def _value(text: str) -> Any:
    """Return a plain value of YAML: JSON, a list in brackets, a quoted or a bare text."""
    text = text.strip()
    plain = _without_comment(text)
    is_list = plain.startswith("[") and plain.endswith("]") and not plain.startswith("[[")
    value = _single_value(text)
    if value == plain and is_list:
        return [_single_value(item.strip()) for item in plain[1:-1].split(",") if item.strip()]
    return value


def _single_value(text: str) -> Any:
    """Return a plain value that is no list in brackets, unless JSON says that it is one."""
    plain = _without_comment(text)
    for given in dict.fromkeys((text, plain)):
        try:
            return read_strictly(given.encode(), DEFAULT_LIMITS)
        except InvalidInputError:
            continue
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    return plain


def _without_comment(text: str) -> str:
    found = _COMMENT.search(text)
    return text[: found.start()].rstrip() if found else text
