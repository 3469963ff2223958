"""PPTX: the slides in order, each with its title, texts, tables and speaker notes."""

from qms.features.documents.parsers.packages import Package
from qms.features.documents.parsers.serve import serve
from qms.features.documents.parsers.xml_events import Attributes, elements, read_xml
from qms.features.documents.pieces import (
    Extracted,
    Piece,
    ReadLimits,
    TextMeter,
    UnreadableError,
    heading,
    paragraph,
    table,
)
from qms.sandbox.child import Channel

_DECK = "ppt/presentation.xml"
_TITLES = frozenset({"title", "ctrTitle"})
_RUNNING = frozenset({"ftr", "hdr", "sldNum", "dt", "sldImg"})
"""Placeholders that repeat on every slide."""


def work(channel: Channel) -> None:
    """Read one file in a worker."""
    serve(channel, read_pptx)


def read_pptx(data: bytes, limits: ReadLimits) -> Extracted:
    """Return the text of a PPTX file; the page of a text is the number of its slide.

    Raises:
        UnreadableError: it is no such file, or beyond a limit.
    """
    package = Package(data, limits)
    if _DECK not in package:
        raise UnreadableError("the package is no PPTX file: it lacks ppt/presentation.xml")
    targets = package.related(_DECK)
    ids = [one.get("r:id", "") for one in elements(package.read(_DECK), "sldId")]
    names = [targets[one][1] for one in ids if one in targets]
    if len(names) > limits.pages:
        raise UnreadableError(f"it has more than {limits.pages:,} slides")
    meter = TextMeter(limits)
    pieces: list[Piece] = []
    for number, name in enumerate(names, 1):
        pieces += _slide(package, name, number, meter)
    return Extracted(pieces=pieces, title=_first_title(pieces), pages=len(names))


def _slide(package: Package, name: str, number: int, meter: TextMeter) -> list[Piece]:
    shapes = _Shapes(number, meter)
    read_xml(package.read(name), shapes)
    pieces = shapes.titles + shapes.pieces
    if pieces and not shapes.titles:
        pieces.insert(0, heading(f"Slide {number}", 1, number))
    for kind, target in package.related(name).values():
        if kind == "notesSlide" and target in package:
            notes = _Shapes(number, meter)
            read_xml(package.read(target), notes)
            if notes.pieces:
                pieces += [heading("Notes", 2, number), *notes.pieces]
    return pieces


def _first_title(pieces: list[Piece]) -> str | None:
    first = next((one for one in pieces if one.level == 1), None)
    return first.text.strip("# \n") if first else None


class _Shapes:
    """The texts of one slide or its notes, shape by shape."""

    def __init__(self, page: int, meter: TextMeter) -> None:
        self._page = page
        self._meter = meter
        self._placeholder = ""
        self._line: list[str] = []
        self._rows: list[list[str]] | None = None
        self._in_text = False
        self.titles: list[Piece] = []
        self.pieces: list[Piece] = []

    def start(self, name: str, attributes: Attributes) -> None:
        match name:
            case "sp" | "graphicFrame":
                self._placeholder = ""
            case "ph":
                self._placeholder = attributes.get("type", "body")
            case "p":
                self._line = []
            case "t":
                self._in_text = True
            case "br":
                self._line.append(" ")
            case "tbl":
                self._rows = []
            case "tr" if self._rows is not None:
                self._rows.append([])
            case "tc" if self._rows:
                self._rows[-1].append("")

    def end(self, name: str) -> None:
        match name:
            case "t":
                self._in_text = False
            case "p":
                self._end_line("".join(self._line).strip())
            case "tbl" if self._rows is not None:
                made = table(self._rows, self._page)
                self.pieces += [made] if made else []
                self._rows = None

    def text(self, data: str) -> None:
        if self._in_text:
            self._line.append(self._meter.take(data))

    def _end_line(self, text: str) -> None:
        self._line = []
        if not text or self._placeholder in _RUNNING:
            return
        if self._rows and self._rows[-1]:
            self._rows[-1][-1] = f"{self._rows[-1][-1]} {text}".strip()
        elif self._placeholder in _TITLES:
            self.titles.append(heading(text, 1, self._page))
        else:
            self.pieces.append(paragraph(text, self._page))
