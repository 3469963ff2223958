"""Chunks: pieces packed up to a size, cut at headings, pages, paragraphs and sentences.

The texts of all chunks, joined, are the text of the document.
"""

from collections.abc import Iterable, Iterator

import msgspec

from qms.features.documents.pieces import Piece, PieceKind
from qms.memory.errors import invalid
from qms.text.sentences import sentence_ends

MOST_CHUNKS = 10_000
CHUNK_SIZE = 800
CHUNK_OVERLAP = 60

_WHOLE_SIGNS = 8_000
"""A table or a code fence up to this length is one chunk; a longer one is cut between lines."""

_PATH = " > "
_HEADING_SIGNS = 120


class Chunk(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a document's text."""

    text: str
    start: int
    """Its place in the text of the document, in characters."""
    page: int | None = None
    heading: str | None = None
    """The headings above it, from the highest to the nearest."""
    before: str = ""
    """The end of the chunk before: for its vector, not part of its text."""

    @property
    def end(self) -> int:
        """The place after its last character."""
        return self.start + len(self.text)


class _Unit(msgspec.Struct, frozen=True, gc=False):
    """What is not cut."""

    text: str
    page: int | None
    level: int = 0


def chunks_of(
    pieces: Iterable[Piece], size: int = CHUNK_SIZE, overlap: int = CHUNK_OVERLAP
) -> list[Chunk]:
    """Return the chunks of a document.

    Raises:
        InvalidInputError: there are more than a document may have.
    """
    found: list[Chunk] = []
    for chunk in _packed(_units(pieces, size), size):
        if len(found) >= MOST_CHUNKS:
            reason = f"it has more than {MOST_CHUNKS:,} chunks of {size} characters"
            raise invalid("data", reason, limit="documentChunks", maximum=MOST_CHUNKS)
        before = _tail(found[-1].text, overlap) if found and overlap else ""
        found.append(msgspec.structs.replace(chunk, before=before))
    return found


def _tail(text: str, length: int) -> str:
    """Return the last words of a text, without one that would be cut."""
    kept = text if len(text) <= length else text[-length - 1 :].partition(" ")[2]
    return " ".join(kept.split())


def _units(pieces: Iterable[Piece], size: int) -> Iterator[_Unit]:
    for piece in pieces:
        if piece.kind is PieceKind.HEADING:
            yield _Unit(piece.text, piece.page, piece.level)
            continue
        whole = max(size, _WHOLE_SIGNS) if piece.kind is PieceKind.BLOCK else size
        if len(piece.text) <= whole:
            yield _Unit(piece.text, piece.page)
            continue
        cut = _sentences if piece.kind is PieceKind.TEXT else _lines
        for part in cut(piece.text):
            for short in _short(part, size):
                yield _Unit(short, piece.page)


def _sentences(text: str) -> Iterator[str]:
    start = 0
    for end in sentence_ends(text):
        yield text[start:end]
        start = end
    yield text[start:]


def _lines(text: str) -> Iterator[str]:
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start : end + 1]
        start = end + 1
    if start < len(text):
        yield text[start:]


def _short(text: str, size: int) -> Iterator[str]:
    """Yield a text in parts of at most `size`, cut after lines, else words, else anywhere."""
    start = 0
    while len(text) - start > size:
        cut = max(text.rfind("\n", start, start + size), -1)
        if cut < start + size // 2:
            cut = text.rfind(" ", start, start + size)
        end = cut + 1 if cut > start else start + size
        yield text[start:end]
        start = end
    if start < len(text):
        yield text[start:]


def _packed(units: Iterable[_Unit], size: int) -> Iterator[Chunk]:
    """Yield chunks; a heading begins one, so does a page, and no chunk ends with a heading."""
    pack = _Pack()
    for unit in units:
        if pack.must_end_before(unit, size):
            yield pack.chunk()
        pack.add(unit)
    if pack.texts:
        yield pack.chunk()


class _Pack:
    def __init__(self) -> None:
        self.texts: list[str] = []
        self._length = 0
        self._start = 0
        self._page: int | None = None
        self._has_text = False
        self._path: list[tuple[int, str]] = []
        self._heading: str | None = None

    def must_end_before(self, unit: _Unit, size: int) -> bool:
        if not self._has_text:
            return False
        if unit.level or unit.page != self._page:
            return True
        return self._length + len(unit.text.rstrip()) > size

    def add(self, unit: _Unit) -> None:
        if not self._has_text:
            # A heading at the foot of a page belongs to the text on the next one.
            self._page = unit.page
        if unit.level:
            title = unit.text.strip("# \n=-\t")[:_HEADING_SIGNS]
            self._path = [one for one in self._path if one[0] < unit.level]
            self._path.append((unit.level, title))
        if not self.texts or not self._has_text:
            self._heading = _PATH.join(title for _level, title in self._path if title) or None
        self.texts.append(unit.text)
        self._length += len(unit.text)
        self._has_text = self._has_text or not unit.level

    def chunk(self) -> Chunk:
        text = "".join(self.texts)
        made = Chunk(text=text, start=self._start, page=self._page, heading=self._heading)
        self._start += len(text)
        self.texts, self._length, self._has_text = [], 0, False
        return made
