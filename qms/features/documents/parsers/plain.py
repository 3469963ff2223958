"""Pieces of plain text, Markdown and source code; the joined pieces are the text itself."""

import re
from collections.abc import Iterator

from qms.features.documents.pieces import Piece, PieceKind

_ATX = re.compile(r"(#{1,6})(?:[ \t]+[^\n]*)?\n?\Z")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*\n?\Z")
_RULE_SIGNS = frozenset("|-: \t\n")

_LONGEST_RULE = 1_000
"""Longer lines are neither headings, underlines nor rules of a table."""

_FRONT_MATTER_LINES = 100


def unified(text: str) -> str:
    """Return a text with the line ends of Unix and without NUL."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "�")


def lines_of(text: str) -> list[str]:
    """Return the lines of a text, each with its line end."""
    return text.splitlines(keepends=True) if _is_simple(text) else _at_newlines(text)


def _is_simple(text: str) -> bool:
    return not any(sign in text for sign in "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029\r")


def _at_newlines(text: str) -> list[str]:
    parts = text.split("\n")
    lines = [f"{part}\n" for part in parts[:-1]]
    return [*lines, parts[-1]] if parts[-1] else lines


def rows(text: str) -> list[Piece]:
    """Return a text that is cut between its lines: source code, JSON, tables."""
    return [Piece(part, PieceKind.ROWS) for part in _paragraphs(lines_of(text))]


def paragraphs(text: str) -> list[Piece]:
    """Return the paragraphs of a plain text."""
    return [Piece(part) for part in _paragraphs(lines_of(text))]


def _paragraphs(lines: list[str]) -> Iterator[str]:
    """Yield runs of lines, each with the blank lines that follow it."""
    run: list[str] = []
    ended = False
    for line in lines:
        is_blank = not line.strip()
        if ended and not is_blank:
            yield "".join(run)
            run = []
        run.append(line)
        ended = is_blank and len(run) > 0
    if run:
        yield "".join(run)


def markdown(text: str) -> list[Piece]:
    """Return the headings, fences, tables and paragraphs of a Markdown text."""
    return list(_Markdown(lines_of(text)).pieces())


class _Markdown:
    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._at = 0

    def pieces(self) -> Iterator[Piece]:
        front = self._front_matter_end()
        if front:
            yield self._piece(front, PieceKind.BLOCK)
        while self._at < len(self._lines):
            yield self._next()

    def _next(self) -> Piece:
        line = self._lines[self._at]
        level = self._heading_level(line)
        if level:
            return self._piece(
                self._at + (1 if line.startswith("#") else 2), PieceKind.HEADING, level
            )
        if _FENCE.match(line):
            return self._piece(self._fence_end(), PieceKind.BLOCK)
        if self._is_table_at(self._at):
            return self._piece(self._table_end(), PieceKind.BLOCK)
        return self._piece(self._paragraph_end(), PieceKind.TEXT)

    def _piece(self, end: int, kind: PieceKind, level: int = 0) -> Piece:
        """Return the lines up to `end`, and the blank lines after them."""
        lines = self._lines
        while end < len(lines) and not lines[end].strip():
            end += 1
        text = "".join(lines[self._at : end])
        self._at = end
        return Piece(text, kind, level)

    def _heading_level(self, line: str) -> int:
        """Return the level of a heading that begins here, or 0."""
        if len(line) > _LONGEST_RULE:
            return 0
        found = _ATX.match(line)
        if found:
            return len(found[1])
        after = self._lines[self._at + 1] if self._at + 1 < len(self._lines) else ""
        is_text = bool(line.strip()) and not line.startswith((" ", "\t", "-", "*", ">", "|", "`"))
        if not is_text or len(after) > _LONGEST_RULE:
            return 0
        underline = _UNDERLINE.match(after)
        return 0 if underline is None else 1 if underline[1][0] == "=" else 2

    def _front_matter_end(self) -> int:
        if not self._lines or self._lines[0].rstrip() != "---":
            return 0
        for number, line in enumerate(self._lines[1 : _FRONT_MATTER_LINES + 1], 1):
            if line.rstrip() in ("---", "..."):
                return number + 1
        return 0

    def _fence_end(self) -> int:
        opening = _FENCE.match(self._lines[self._at])
        assert opening is not None
        sign, width = opening[1][0], len(opening[1])
        for number in range(self._at + 1, len(self._lines)):
            closing = self._lines[number].strip()
            if len(closing) >= width and not closing.strip(sign):
                return number + 1
        return len(self._lines)

    def _is_table_at(self, place: int) -> bool:
        if place + 1 >= len(self._lines) or "|" not in self._lines[place]:
            return False
        rule = self._lines[place + 1]
        return len(rule) <= _LONGEST_RULE and "-" in rule and _RULE_SIGNS.issuperset(rule)

    def _table_end(self) -> int:
        end = self._at + 2
        while end < len(self._lines) and "|" in self._lines[end]:
            end += 1
        return end

    def _paragraph_end(self) -> int:
        end = self._at + 1
        while end < len(self._lines):
            line = self._lines[end]
            if not line.strip() or _FENCE.match(line) or self._is_table_at(end):
                break
            if len(line) <= _LONGEST_RULE and _ATX.match(line):
                break
            end += 1
        return end
