"""DOCX: paragraphs, headings, lists and tables of the body, then its notes."""

from qms.features.documents.parsers.packages import Package
from qms.features.documents.parsers.serve import serve
from qms.features.documents.parsers.xml_events import Attributes, read_xml
from qms.features.documents.pieces import (
    Extracted,
    Piece,
    ReadLimits,
    TextMeter,
    UnreadableError,
    heading,
    paragraph,
    row_line,
    table,
)
from qms.sandbox.child import Channel

_BODY = "word/document.xml"
_STYLES = "word/styles.xml"
_NOTES = ("word/footnotes.xml", "word/endnotes.xml")
_SKIPPED = frozenset({"Fallback", "instrText", "delText", "del", "moveFrom"})
_NO_NOTE = frozenset({"separator", "continuationSeparator", "continuationNotice"})
_BREAKS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}


def work(channel: Channel) -> None:
    """Read one file in a worker."""
    serve(channel, read_docx)


def read_docx(data: bytes, limits: ReadLimits) -> Extracted:
    """Return the text of a DOCX file.

    Raises:
        UnreadableError: it is no such file, or beyond a limit.
    """
    package = Package(data, limits)
    if _BODY not in package:
        raise UnreadableError("the package is no DOCX file: it lacks word/document.xml")
    styles = _Styles()
    if _STYLES in package:
        read_xml(package.read(_STYLES), styles)
    meter = TextMeter(limits)
    body = _Body(styles.levels(), meter)
    read_xml(package.read(_BODY), body)
    pieces = list(body.pieces)
    for name in _NOTES:
        if name in package:
            notes = _Body({}, meter)
            read_xml(package.read(name), notes)
            pieces += notes.pieces
    pages = body.page if body.has_pages else None
    kept = pieces if body.has_pages else [_without_page(one) for one in pieces]
    return Extracted(pieces=kept, title=body.title, pages=pages)


def _without_page(piece: Piece) -> Piece:
    return Piece(piece.text, piece.kind, piece.level)


class _Styles:
    """Which styles are headings, by their name or outline level, also by the style they follow."""

    def __init__(self) -> None:
        self._style = ""
        self._found: dict[str, int] = {}
        self._based_on: dict[str, str] = {}

    def start(self, name: str, attributes: Attributes) -> None:
        value = attributes.get("val", "")
        match name:
            case "style":
                self._style = attributes.get("styleId", "")
            case "name" if self._style:
                self._named(value.lower())
            case "basedOn":
                self._based_on[self._style] = value
            case "outlineLvl" if value.isdigit():
                self._found.setdefault(self._style, int(value) + 1)

    def _named(self, name: str) -> None:
        if name.startswith("heading ") and name[8:].isdigit():
            self._found[self._style] = int(name[8:])
        elif name == "title":
            self._found[self._style] = 0

    def end(self, name: str) -> None:
        """Leave a style."""

    def text(self, data: str) -> None:
        """Ignore characters."""

    def levels(self) -> dict[str, int]:
        """Return the heading level of each style; 0 for the title."""
        known = dict(self._found)
        for style in self._based_on:
            base, seen = style, set[str]()
            while base and base not in self._found and base not in seen:
                seen.add(base)
                base = self._based_on.get(base, "")
            if base in self._found and 0 < self._found[base] <= 9:
                known.setdefault(style, self._found[base])
        return {style: level for style, level in known.items() if level <= 9}


class _Body:
    def __init__(self, levels: dict[str, int], meter: TextMeter) -> None:
        self._levels = levels
        self._meter = meter
        self.pieces: list[Piece] = []
        self.title: str | None = None
        self.page = 1
        self.has_pages = False
        self._skipped = 0
        self._open: list[_Paragraph] = []
        self._tables: list[list[list[list[str]]]] = []
        self._in_text = False
        self._is_note = False

    def start(self, name: str, attributes: Attributes) -> None:
        if self._skipped or name in _SKIPPED:
            self._skipped += 1
            return
        match name:
            case "p":
                self._open.append(_Paragraph(self.page))
            case "tbl":
                self._tables.append([])
            case "tr" if self._tables:
                self._tables[-1].append([])
            case "tc" if self._tables and self._tables[-1]:
                self._tables[-1][-1].append([])
            case "lastRenderedPageBreak":
                self._turn_page()
            case "footnote" | "endnote" if attributes.get("type") in _NO_NOTE:
                self._skipped = 1
            case "t":
                self._in_text = True
            case _ if self._open:
                self._property(name, attributes)

    def _property(self, name: str, attributes: Attributes) -> None:
        current = self._open[-1]
        value = attributes.get("val", "")
        match name:
            case "pStyle":
                current.level = self._levels.get(value)
            case "outlineLvl" if value.isdigit() and int(value) < 9:
                current.level = int(value) + 1
            case "numId":
                current.is_item = value != "0"
            case "r":
                current.is_hidden = False
            case "vanish":
                current.is_hidden = value not in ("0", "false")
            case _ if name in _BREAKS and attributes.get("type") != "page":
                current.add(_BREAKS[name])

    def end(self, name: str) -> None:
        if self._skipped:
            self._skipped -= 1
            return
        match name:
            case "t":
                self._in_text = False
            case "p" if self._open:
                self._end_paragraph(self._open.pop())
            case "tbl" if self._tables:
                self._end_table(self._tables.pop())

    def text(self, data: str) -> None:
        if self._in_text and not self._skipped and self._open:
            self._open[-1].add(self._meter.take(data))

    def _end_paragraph(self, ended: "_Paragraph") -> None:
        text = ended.text()
        if not text:
            return
        if self._tables and self._tables[-1] and self._tables[-1][-1]:
            self._tables[-1][-1][-1].append(text)
        elif ended.level == 0:
            self.title = self.title or text
            self.pieces.append(heading(text, 1, ended.page))
        elif ended.level is not None:
            self.pieces.append(heading(text, ended.level, ended.page))
        else:
            self.pieces.append(paragraph(f"- {text}" if ended.is_item else text, ended.page))

    def _end_table(self, rows: list[list[list[str]]]) -> None:
        if self._tables and self._tables[-1] and self._tables[-1][-1]:
            inner = (row_line(" ".join(cell) for cell in row) for row in rows)
            self._tables[-1][-1][-1].append("; ".join(filter(None, inner)))
            return
        made = table(([" ".join(cell) for cell in row] for row in rows), self.page)
        if made is not None:
            self.pieces.append(made)

    def _turn_page(self) -> None:
        self.has_pages = True
        self.page += 1
        for one in self._open:
            if not one.text():
                one.page = self.page


class _Paragraph:
    def __init__(self, page: int) -> None:
        self.page = page
        self.level: int | None = None
        self.is_item = False
        self.is_hidden = False
        self._parts: list[str] = []

    def add(self, text: str) -> None:
        if not self.is_hidden:
            self._parts.append(text)

    def text(self) -> str:
        return "".join(self._parts).strip()
