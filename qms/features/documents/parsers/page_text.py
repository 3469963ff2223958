"""Pieces from the lines of pages: paragraphs joined over line ends, headings, tables."""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from qms.features.documents.parsers.page_layout import Line
from qms.features.documents.pieces import Piece, PieceKind, heading, paragraph, row_line
from qms.text.sentences import first_sentence_end

_HYPHEN = "\ufffe"
_BULLETS = ("•", "◦", "▪", "■", "‣", "–", "*", "●", "○")
_ENDS = (".", "!", "?", ":", ";", "”", '"', ")", "。")
_HEADING_SIZE = 1.12
"""Letters higher than the body's by this factor make a heading."""
_SAME_SIZE = 0.92
_HEADING_SIGNS = 200
_LOOSE = 1.3
"""Lines further apart than usual by this factor begin a paragraph."""


class PageLines(NamedTuple):
    """A page and its lines in reading order."""

    number: int
    lines: list[Line]


class _Block:
    """Lines that belong together."""

    def __init__(self, page: int, line: Line, level: int) -> None:
        self.page = page
        self.level = level
        self.lines = [line]
        self.turned_at: tuple[int, int] | None = None
        """The last page that the block goes on to, and how many lines are before it."""

    @property
    def last(self) -> Line:
        return self.lines[-1]

    def text(self) -> str:
        return _joined([line.text for line in self.lines])


def pieces_of(pages: list[PageLines]) -> list[Piece]:
    """Return the text of pages in pieces."""
    sizes = Counter[float]()
    for page in pages:
        for line in page.lines:
            sizes[round(line.size * 2) / 2] += len(line.text)
    body = _most_common(sizes)
    large = sorted((size for size in sizes if body and size >= body * _HEADING_SIZE), reverse=True)
    blocks = _blocks(pages, _ranked(large), _pitch(pages))
    return [piece for block in blocks for piece in _pieces(block)]


def _ranked(sizes: list[float]) -> dict[float, int]:
    """Return the heading level of each size; sizes that differ a little are one level."""
    levels: dict[float, int] = {}
    head, level = 0.0, 0
    for size in sizes:
        if size < head * _SAME_SIZE or not level:
            head, level = size, level + 1
        levels[size] = min(level, 6)
    return levels


def _most_common(counts: Counter[float]) -> float:
    """Return the value that is counted most often, or 0."""
    # Counter.most_common would import a module, which the walls refuse.
    return max(counts, key=counts.__getitem__, default=0.0)


def _pitch(pages: list[PageLines]) -> float:
    """Return the usual distance of two lines, or 0."""
    found = Counter(
        round((one.bottom - two.bottom) * 2) / 2
        for page in pages
        for one, two in pairwise(page.lines)
        if one.column == two.column and 0 < one.bottom - two.bottom < 3 * one.size
    )
    return _most_common(found)


def _blocks(pages: list[PageLines], levels: dict[float, int], pitch: float) -> Iterator[_Block]:
    block: _Block | None = None
    for page in pages:
        is_first = True
        for line in page.lines:
            level = _level(line, levels)
            if block is not None and _goes_on(block, line, level, pitch, turns=is_first):
                if is_first:
                    block.turned_at = (page.number, len(block.lines))
                block.lines.append(line)
            else:
                if block is not None:
                    yield block
                block = _Block(page.number, line, level)
            is_first = False
    if block is not None:
        yield block


def _level(line: Line, levels: dict[float, int]) -> int:
    known = levels.get(round(line.size * 2) / 2, 0)
    return known if len(line.text) <= _HEADING_SIGNS else 0


def _goes_on(block: _Block, line: Line, level: int, pitch: float, *, turns: bool) -> bool:
    before = block.last
    if level != block.level or not before.size or line.text.startswith(_BULLETS):
        return False
    is_row = len(line.cells) > 1
    if is_row or len(before.cells) > 1:
        return is_row and len(before.cells) > 1 and not turns
    if turns or line.column != before.column:
        return not level and _runs_over(before.text, line.text)
    if level:
        return 0 <= before.bottom - line.bottom < 2 * before.size
    return not _begins_paragraph(before, line, pitch)


def _runs_over(before: str, after: str) -> bool:
    """Say whether a sentence goes on after the end of a column or a page."""
    return before.endswith(_HYPHEN) or (not before.rstrip().endswith(_ENDS) and after[:1].islower())


def _begins_paragraph(before: Line, line: Line, pitch: float) -> bool:
    distance = before.bottom - line.bottom
    if before.text.endswith(_HYPHEN):
        return False
    if pitch and (distance > _LOOSE * pitch or distance < -pitch):
        return True
    extent = line.column_right - line.column_left
    ends_early = before.right < line.column_right - 0.2 * extent
    if ends_early and (before.text.rstrip().endswith(_ENDS) or not line.text[:1].islower()):
        return True
    is_indented = line.left - line.column_left > 0.8 * line.size
    return is_indented and before.left - line.column_left < 0.3 * line.size


def _joined(texts: list[str]) -> str:
    """Return lines as one text: a word that a hyphen divides is whole again."""
    parts: list[str] = []
    for text in texts:
        if parts and parts[-1].endswith(_HYPHEN):
            parts[-1] = parts[-1][:-1] + ("" if text[:1].islower() else "-")
            parts.append(text)
        else:
            parts += [" ", text] if parts else [text]
    return "".join(parts).replace(_HYPHEN, "-").strip()


def _pieces(block: _Block) -> Iterator[Piece]:
    if block.level:
        yield heading(block.text(), block.level, block.page)
    elif len(block.lines) > 1 and len(block.lines[0].cells) > 1:
        rows = "\n".join(row_line(line.cells) for line in block.lines)
        yield Piece(f"{rows}\n\n", PieceKind.BLOCK, 0, block.page)
    elif block.turned_at is None:
        yield paragraph(block.text(), block.page)
    else:
        following, count = block.turned_at
        turned_at = len(_joined([line.text for line in block.lines[:count]]))
        yield from _over_the_page(block.text(), block.page, following, turned_at)


def _over_the_page(text: str, page: int, following: int, turned_at: int) -> Iterator[Piece]:
    """Yield a paragraph in two: the sentence that runs over the page stays where it began."""
    end = first_sentence_end(text, turned_at)
    if end >= len(text):
        yield paragraph(text, page)
        return
    yield Piece(text[:end], PieceKind.TEXT, 0, page)
    yield paragraph(text[end:], following)
