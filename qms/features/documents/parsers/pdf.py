"""PDF: the pages of a file by pdfium, in reading order, without running headers and footers."""

from array import array
from collections import Counter, deque
from collections.abc import Iterator
from ctypes import PYFUNCTYPE, c_int, c_void_p, cast
from itertools import accumulate, repeat

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from qms.features.documents.parsers.page_layout import (
    Boxes,
    Line,
    Segment,
    lines_in_order,
    segments_of,
)
from qms.features.documents.parsers.page_text import PageLines, pieces_of
from qms.features.documents.parsers.serve import serve
from qms.features.documents.pieces import Extracted, ReadLimits, TextMeter, UnreadableError
from qms.sandbox.child import Channel

HYPHEN = "\ufffe"
"""What pdfium writes for a hyphen at the end of a line; the word goes on after it."""

_MARGIN = 0.12
"""The part of a page's height, at its top and bottom, where running lines are."""

_REPEATED = 3
"""A line at the same height of so many pages, equal but for its digits, is a running line."""

_SHOWN_PAGES = 20
_BOX_BYTES = 16
_get_box = PYFUNCTYPE(c_int, c_void_p, c_int, c_void_p)(
    cast(raw.FPDFText_GetLooseCharBox, c_void_p).value or 0
)
_DIGITS = str.maketrans("0123456789", "##########")


def work(channel: Channel) -> None:
    """Read one file in a worker."""
    serve(channel, read_pdf)


def read_pdf(data: bytes, limits: ReadLimits) -> Extracted:
    """Return the text of a PDF file.

    Raises:
        UnreadableError: it is damaged, encrypted, or beyond a limit.
    """
    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        reason = "it is encrypted" if "assword" in str(error) else "it is damaged or no PDF file"
        raise UnreadableError(reason) from None
    count = len(document)
    if count > limits.pages:
        raise UnreadableError(f"it has {count:,} pages, more than {limits.pages:,}")
    meter = TextMeter(limits)
    pages, broken = [], []
    for number in range(count):
        try:
            pages.append(PageLines(number + 1, list(_page_lines(document, number, meter))))
        except pdfium.PdfiumError:
            broken.append(number + 1)
    empty = [page.number for page in pages if not page.lines]
    warnings = _named("have no text, perhaps they are scanned", empty)
    warnings += _named("are damaged and were left out", broken)
    title = document.get_metadata_dict(skip_empty=True).get("Title")
    pieces = pieces_of(_without_running_lines(pages))
    return Extracted(pieces=pieces, title=title, pages=count, warnings=warnings)


def _named(what: str, numbers: list[int]) -> list[str]:
    if not numbers:
        return []
    more = ", …" if len(numbers) > _SHOWN_PAGES else ""
    return [f"pages {', '.join(map(str, numbers[:_SHOWN_PAGES]))}{more} {what}"]


def _page_lines(document: pdfium.PdfDocument, number: int, meter: TextMeter) -> list[Line]:
    page = document[number]
    text_page = page.get_textpage()
    try:
        text = meter.take(text_page.get_text_range())
        if len(text) == text_page.count_chars():
            width, height = page.get_size()
            return lines_in_order(list(_segments(text_page.raw, text)), width, height)
        # Signs beyond the basic plane shift the positions: the order of the file has to do.
        return [
            Line.placeless(one) for one in text.replace(HYPHEN, "").split("\r\n") if one.strip()
        ]
    finally:
        text_page.close()
        page.close()


def _segments(page: object, text: str) -> Iterator[Segment]:
    """Yield the parts of each line that no wide gap divides, with their places."""
    lines: list[tuple[int, list[str]]] = []
    signs: list[int] = []
    at = 0
    for number, line in enumerate(text.replace(HYPHEN, f"{HYPHEN}\n").split("\n")):
        start, at = at, at + len(line) + (0 if line.endswith(HYPHEN) else 1)
        words = line.rstrip("\r").split(" ")
        places = list(accumulate([len(word) + 1 for word in words], initial=start))
        pairs = zip(words, places, places[1:], strict=False)
        signs += [sign for word, one, two in pairs if word for sign in (one, two - 2)]
        kept = [word for word in words if word]
        if kept:
            lines.append((number, kept))
    yield from _placed(lines, _boxes(page, signs))


def _placed(lines: list[tuple[int, list[str]]], boxes: list[float]) -> Iterator[Segment]:
    """Yield the segments of lines, from the boxes of the first and last sign of each word."""
    lefts, tops, bottoms, rights = boxes[0::8], boxes[1::8], boxes[3::8], boxes[6::8]
    end = 0
    for number, words in lines:
        start, end = end, end + len(words)
        part = slice(start, end)
        yield from segments_of(
            words, Boxes(lefts[part], rights[part], bottoms[part], tops[part]), number
        )


def _boxes(page: object, signs: list[int]) -> list[float]:
    """Return left, top, right and bottom of each sign, one after another."""
    # Calls with plain addresses, in one sweep, cost half of those with ctypes' objects.
    boxes = array("f", bytes(_BOX_BYTES * len(signs)))
    address, _ = boxes.buffer_info()
    pointer = cast(page, c_void_p).value  # type: ignore[arg-type]  # a pointer of pdfium's
    addresses = range(address, address + _BOX_BYTES * len(signs), _BOX_BYTES)
    deque(map(_get_box, repeat(pointer), signs, addresses), maxlen=0)
    return boxes.tolist()


def _without_running_lines(pages: list[PageLines]) -> list[PageLines]:
    """Return the pages without lines that repeat in the margin of many of them."""
    seen = Counter(key for page in pages for key in {_key(one) for one in page.lines} if key)
    running = {key for key, count in seen.items() if count >= _REPEATED}
    return [
        PageLines(page.number, [one for one in page.lines if _key(one) not in running])
        for page in pages
    ]


def _key(line: Line) -> tuple[str, int] | None:
    """Return what running lines have in common, or None for a line outside the margins."""
    if _MARGIN < line.height_on_page < 1 - _MARGIN:
        return None
    return line.text.translate(_DIGITS).strip(), round(line.height_on_page * 200)
