"""PDF: the pages of a file by pdfium, in reading order, without running headers and footers."""

from collections import Counter
from collections.abc import Iterator
from ctypes import byref

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from qms.features.documents.parsers.page_layout import (
    Line,
    Segment,
    Word,
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
    box = raw.FS_RECTF()
    get_box = raw.FPDFText_GetLooseCharBox
    at = 0
    for number, line in enumerate(text.replace(HYPHEN, f"{HYPHEN}\n").split("\n")):
        place, at = at, at + len(line) + (0 if line.endswith(HYPHEN) else 1)
        words: list[Word] = []
        for word in line.rstrip("\r").split(" "):
            first, place = place, place + len(word) + 1
            if not word:
                continue
            get_box(page, first, byref(box))
            left, top, bottom = box.left, box.top, box.bottom
            if len(word) > 1:
                get_box(page, first + len(word) - 1, byref(box))
            words.append((left, box.right, bottom, top, word))
        if words:
            yield from segments_of(words, number)


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
