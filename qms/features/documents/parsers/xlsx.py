"""XLSX: the sheets in order, a line a row; formulas as their values, dates as dates."""

import re
from datetime import datetime, timedelta

from qms.features.documents.parsers.packages import Package
from qms.features.documents.parsers.serve import serve
from qms.features.documents.parsers.xml_events import Attributes, elements, read_xml
from qms.features.documents.pieces import (
    Extracted,
    Piece,
    PieceKind,
    ReadLimits,
    TextMeter,
    UnreadableError,
    heading,
    row_line,
)
from qms.sandbox.child import Channel

_BOOK = "xl/workbook.xml"
_STRINGS = "xl/sharedStrings.xml"
_STYLES = "xl/styles.xml"
_EPOCH = datetime(1899, 12, 30)  # noqa: DTZ001 - a sheet has no time zone
_EPOCH_1904 = datetime(1904, 1, 1)  # noqa: DTZ001 - a sheet has no time zone
_DATE_FORMATS = frozenset((*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)))
_BRACKETS = re.compile(r"\\.|\[[^\[\]]*\]")
_DATE_LETTERS = re.compile(r"[ymdhs]", re.IGNORECASE)
_REFERENCE = re.compile(r"([A-Z]{1,3})[0-9]+")
_MOST_COLUMNS = 1_000
_LONGEST_FORMAT = 255
_MOST_DAYS = 2_958_466
"""The day after 9999-12-31."""


def work(channel: Channel) -> None:
    """Read one file in a worker."""
    serve(channel, read_xlsx)


def read_xlsx(data: bytes, limits: ReadLimits) -> Extracted:
    """Return the text of an XLSX file; each sheet is a section of its name.

    Raises:
        UnreadableError: it is no such file, or beyond a limit.
    """
    package = Package(data, limits)
    if _BOOK not in package:
        raise UnreadableError("the package is no XLSX file: it lacks xl/workbook.xml")
    book = package.read(_BOOK)
    meter = TextMeter(limits)
    values = _Values(_strings(package), _date_styles(package), _epoch(book))
    targets = package.related(_BOOK)
    pieces: list[Piece] = []
    warnings: list[str] = []
    for sheet in elements(book, "sheet"):
        name = sheet.get("name", "")
        target = targets.get(sheet.get("r:id", ""))
        if target is None or target[1] not in package or target[0] != "worksheet":
            continue
        if sheet.get("state", "visible") != "visible":
            warnings.append(f"sheet {name[:100]!r} is hidden and was left out")
            continue
        rows = _Sheet(values, meter)
        read_xml(package.read(target[1]), rows)
        if rows.lines:
            text = "".join(f"{line}\n" for line in rows.lines) + "\n"
            pieces += [heading(name, 1), Piece(text, PieceKind.ROWS)]
        if rows.is_cut:
            warnings.append(f"sheet {name[:100]!r}: columns after {_MOST_COLUMNS} were left out")
    return Extracted(pieces=pieces, warnings=warnings)


def _strings(package: Package) -> list[str]:
    if _STRINGS not in package:
        return []
    shared = _SharedStrings()
    read_xml(package.read(_STRINGS), shared)
    return shared.found


def _date_styles(package: Package) -> frozenset[int]:
    """Return the numbers of the cell styles that show a date or a time."""
    if _STYLES not in package:
        return frozenset()
    styles = _CellStyles()
    read_xml(package.read(_STYLES), styles)
    return frozenset(
        number
        for number, form in enumerate(styles.formats)
        if form in _DATE_FORMATS or _shows_date(styles.codes.get(form, ""))
    )


def _shows_date(code: str) -> bool:
    if len(code) > _LONGEST_FORMAT:
        return False
    unquoted = "".join(code.partition(";")[0].split('"')[::2])
    return _DATE_LETTERS.search(_BRACKETS.sub("", unquoted)) is not None


def _epoch(book: bytes) -> datetime:
    properties = elements(book, "workbookPr")
    is_1904 = any(one.get("date1904") in ("1", "true") for one in properties)
    return _EPOCH_1904 if is_1904 else _EPOCH


class _SharedStrings:
    def __init__(self) -> None:
        self.found: list[str] = []
        self._parts: list[str] = []
        self._in_text = False
        self._phonetic = 0

    def start(self, name: str, _attributes: Attributes) -> None:
        match name:
            case "si":
                self._parts = []
            case "rPh":
                self._phonetic += 1
            case "t":
                self._in_text = self._phonetic == 0

    def end(self, name: str) -> None:
        match name:
            case "si":
                self.found.append("".join(self._parts))
            case "rPh":
                self._phonetic -= 1
            case "t":
                self._in_text = False

    def text(self, data: str) -> None:
        if self._in_text:
            self._parts.append(data)


class _CellStyles:
    def __init__(self) -> None:
        self.codes: dict[int, str] = {}
        self.formats: list[int] = []
        self._in_cells = False

    def start(self, name: str, attributes: Attributes) -> None:
        number = _whole(attributes.get("numFmtId"))
        match name:
            case "numFmt":
                self.codes[number] = attributes.get("formatCode", "")
            case "cellXfs":
                self._in_cells = True
            case "xf" if self._in_cells:
                self.formats.append(number)

    def end(self, name: str) -> None:
        if name == "cellXfs":
            self._in_cells = False

    def text(self, data: str) -> None:
        """Ignore characters."""


class _Values:
    """Turns the raw content of a cell into what the sheet shows."""

    def __init__(self, strings: list[str], dates: frozenset[int], epoch: datetime) -> None:
        self._strings = strings
        self._dates = dates
        self._epoch = epoch

    def shown(self, raw: str, kind: str, style: int) -> str:
        match kind:
            case "s":
                place = _whole(raw)
                return self._strings[place] if 0 <= place < len(self._strings) else ""
            case "b":
                return "TRUE" if raw.strip() == "1" else "FALSE"
            case "n" if style in self._dates:
                return self._date(raw)
            case "n":
                return _number(raw)
            case _:
                return raw

    def _date(self, raw: str) -> str:
        try:
            days = float(raw)
        except ValueError:
            return raw
        if not 0 <= days < _MOST_DAYS:
            return raw
        moment = self._epoch + timedelta(seconds=round(days * 86_400))
        if days < 1:
            return moment.strftime("%H:%M:%S")
        return moment.strftime("%Y-%m-%d" if days == int(days) else "%Y-%m-%d %H:%M:%S")


class _Sheet:
    def __init__(self, values: _Values, meter: TextMeter) -> None:
        self._values = values
        self._meter = meter
        self.lines: list[str] = []
        self.is_cut = False
        self._row: list[str] = []
        self._kind = "n"
        self._style = 0
        self._column = 0
        self._raw: list[str] = []
        self._in_value = False

    def start(self, name: str, attributes: Attributes) -> None:
        match name:
            case "row":
                self._row = []
            case "c":
                self._kind = attributes.get("t", "n")
                self._style = _whole(attributes.get("s"))
                self._column = _column(attributes.get("r", ""), len(self._row))
                self._raw = []
            case "v" | "t":
                self._in_value = True

    def end(self, name: str) -> None:
        match name:
            case "v" | "t":
                self._in_value = False
            case "c" if self._raw:
                self._place(self._values.shown("".join(self._raw), self._kind, self._style))
            case "row":
                line = row_line(self._row)
                if line.strip(" |"):
                    self.lines.append(self._meter.take(line))

    def text(self, data: str) -> None:
        if self._in_value:
            self._raw.append(data)

    def _place(self, value: str) -> None:
        if self._column >= _MOST_COLUMNS:
            self.is_cut = True
            return
        self._row += [""] * (self._column + 1 - len(self._row))
        self._row[self._column] = value


def _column(reference: str, following: int) -> int:
    """Return the column of a cell from its reference, as `BC12`, counted from 0."""
    found = _REFERENCE.match(reference)
    if found is None:
        return following
    number = 0
    for letter in found[1]:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


def _whole(text: str | None) -> int:
    return int(text) if text and len(text) < 10 and text.isdigit() else -1


def _number(raw: str) -> str:
    """Return a number as people write it: 0.1 for 0.10000000000000001."""
    try:
        value = float(raw)
    except ValueError:
        return raw
    return f"{value:.15g}" if "." in raw or "e" in raw.lower() else raw
