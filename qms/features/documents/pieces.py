"""Pieces: what a reader makes of a file; their texts, joined, are the text of the document."""

from collections.abc import Iterable
from enum import StrEnum

import msgspec

MEGABYTE = 1024 * 1024


class PieceKind(StrEnum):
    """How a piece may be cut."""

    TEXT = "text"
    """A paragraph: between sentences."""
    HEADING = "heading"
    """Begins a chunk; `level` is 1 for the highest."""
    ROWS = "rows"
    """Between lines: rows of a sheet, source code, lists."""
    BLOCK = "block"
    """Not at all while it is short enough: a table, a code fence."""


class Piece(msgspec.Struct, frozen=True, omit_defaults=True, array_like=True, gc=False):
    """A part of the text, with the white space that ends it."""

    text: str
    kind: PieceKind = PieceKind.TEXT
    level: int = 0
    page: int | None = None


class Extracted(msgspec.Struct, frozen=True, kw_only=True):
    """The text of a file in pieces, and what was left out of it."""

    pieces: list[Piece]
    title: str | None = None
    pages: int | None = None
    warnings: list[str] = []


class ReadLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How much of a file is read; section names are those of the documentation."""

    unpacked_bytes: int = 64 * MEGABYTE
    ratio: int = 200
    pages: int = 5_000
    text_bytes: int = 32 * MEGABYTE
    """More text than the most chunks can hold is refused while it is read."""


class UnreadableError(Exception):
    """A file cannot be read; the text says why, for the person who sent it."""


class TextMeter:
    """Counts the text that a reader has made, and stops it beyond the limit."""

    def __init__(self, limits: ReadLimits) -> None:
        self._left = limits.text_bytes
        self._most = limits.text_bytes

    def take(self, text: str) -> str:
        """Return the text.

        Raises:
            UnreadableError: there is more text than a document may have.
        """
        self._left -= len(text)
        if self._left < 0:
            raise UnreadableError(f"it has more than {self._most // MEGABYTE} MiB of text")
        return text


def joined(pieces: Iterable[Piece]) -> str:
    """Return the text of a document."""
    return "".join(piece.text for piece in pieces)


def paragraph(text: str, page: int | None = None) -> Piece:
    """Return a paragraph with the blank line that ends it."""
    return Piece(f"{text}\n\n", PieceKind.TEXT, 0, page)


def heading(text: str, level: int, page: int | None = None) -> Piece:
    """Return a heading as Markdown writes it, on one line."""
    depth = min(max(level, 1), 6)
    return Piece(f"{'#' * depth} {' '.join(text.split())}\n\n", PieceKind.HEADING, depth, page)


def table(rows: Iterable[Iterable[str]], page: int | None = None) -> Piece | None:
    """Return a table, a line a row; None if every cell is empty."""
    kept = [row for row in map(row_line, rows) if row]
    return Piece("\n".join(kept) + "\n\n", PieceKind.BLOCK, 0, page) if kept else None


def row_line(cells: Iterable[str]) -> str:
    """Return the cells of a row on one line; empty cells at its end are left out."""
    flat = [" ".join(cell.split()) for cell in cells]
    while flat and not flat[-1]:
        flat.pop()
    return " | ".join(flat)
