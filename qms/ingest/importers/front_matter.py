"""The front matter of a Markdown file: the part of YAML that people and programs write there."""

import re
from collections.abc import Iterator
from typing import Any

from qms.codec.lines import read_strictly
from qms.domain.errors import InvalidInputError
from qms.domain.limits import DEFAULT_LIMITS

LIST_ITEM = "- "

_FRONT = re.compile(r"\A---[ \t]*\n(?P<front>.*?)^---[ \t]*(?:\n|\Z)", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"(?P<name>[A-Za-z_][\w -]*?)[ \t]*:(?:[ \t]+(?P<value>.*)|[ \t]*)")
_BLOCK = re.compile(r"(?P<style>[|>])[+-]?")
_COMMENT = re.compile(r"\s+#\s.*")

Front = dict[str, Any]


def read_front(text: str) -> tuple[Front, str]:
    """Return the front matter of a text, and what follows it.

    Raises:
        InvalidInputError: a line of it is neither a field nor part of one.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if (found := _FRONT.match(text)) is None:
        return {}, text.strip("\n")
    front: Front = {}
    name = ""
    lines = _Lines(found["front"].split("\n"))
    for line in lines:
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        if stripped.startswith(LIST_ITEM) and isinstance(front.get(name), list):
            front[name].append(_value(stripped.removeprefix(LIST_ITEM)))
        elif field := _FIELD.fullmatch(line.rstrip()):
            name = field["name"]
            front[name] = _field_value(field["value"], lines)
        else:
            raise InvalidInputError(f"the front matter has a line {line[:64]!r}", field="front")
    return front, text[found.end() :].strip("\n")


class _Lines:
    """Lines one by one, and those that are indented at once."""

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


def _field_value(text: str | None, lines: _Lines) -> Any:
    if not text:
        return []
    if block := _BLOCK.fullmatch(text.strip()):
        return ("\n" if block["style"] == "|" else " ").join(lines.indented()).strip()
    return _value(text)


def _value(text: str) -> Any:
    """Return a plain value of YAML: JSON, a list in brackets, a quoted or a bare text."""
    text = text.strip()
    for given in (text, _COMMENT.sub("", text)):
        try:
            return read_strictly(given.encode(), DEFAULT_LIMITS)
        except InvalidInputError:
            continue
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    text = _COMMENT.sub("", text)
    if text.startswith("[") and text.endswith("]") and not text.startswith("[["):
        return [_value(item) for item in text[1:-1].split(",") if item.strip()]
    return text
