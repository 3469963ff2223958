"""HTML: what a reader of the page sees, as headings, paragraphs, lists, code and tables."""

from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from qms.features.documents.parsers.serve import serve
from qms.features.documents.pieces import (
    Extracted,
    Piece,
    PieceKind,
    ReadLimits,
    TextMeter,
    UnreadableError,
    heading,
    paragraph,
    table,
)
from qms.sandbox.child import Channel

_LEFT_OUT = frozenset({
    "script", "style", "template", "noscript", "svg", "math", "iframe", "object", "head", "nav",
    "button", "select", "textarea", "canvas", "audio", "video",
})  # fmt: skip
_INLINE = frozenset({
    "a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "dfn", "em", "font", "i", "ins", "kbd",
    "label", "mark", "q", "rp", "rt", "ruby", "s", "samp", "small", "span", "strong", "sub", "sup",
    "time", "tt", "u", "var", "wbr", "img", "br", "big", "center", "del", "strike", "input",
})  # fmt: skip
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_TEXT, _COMMENT = "-text", "-comment"
_MOST_DEPTH = 2_000
"""Deeper elements are not read: no page that people wrote has them."""


def work(channel: Channel) -> None:
    """Read one page in a worker; it is UTF-8."""
    serve(channel, lambda data, limits: read_html(data.decode("utf-8", "replace"), limits))


def read_html(text: str, limits: ReadLimits) -> Extracted:
    """Return the text of an HTML page.

    Raises:
        UnreadableError: it has more text than a document may have.
    """
    page = LexborHTMLParser(text)
    body = page.body or page.root
    if body is None:
        return Extracted(pieces=[])
    title = page.css_first("head > title")
    name = " ".join((title.text() or "").split()) if title is not None else None
    return Extracted(pieces=list(_Page(TextMeter(limits)).read(body)), title=name or None)


class _Page:
    """Walks the tree without recursion, and gathers lines into pieces."""

    def __init__(self, meter: TextMeter) -> None:
        self._meter = meter
        self._line: list[str] = []
        self._pieces: list[Piece] = []
        self._level = 0
        self._item = False

    def read(self, root: LexborNode) -> Iterator[Piece]:
        depth = 0
        node: LexborNode | None = root
        while node is not None:
            inner = self._enter(node)
            if inner is not None:
                depth += 1
                if depth > _MOST_DEPTH:
                    raise UnreadableError(f"its elements are nested more than {_MOST_DEPTH} deep")
                node = inner
                continue
            while node is not None:
                self._leave(node)
                if node.mem_id == root.mem_id:
                    node = None
                elif node.next is not None:
                    node = node.next
                    break
                else:
                    node = node.parent
                    depth -= 1
            yield from self._pieces
            self._pieces = []
        self._end_line()
        yield from self._pieces

    def _enter(self, node: LexborNode) -> LexborNode | None:
        """Take a node, and return its first child if it has to be walked."""
        tag = node.tag or ""
        if tag == _TEXT:
            self._line.append(self._meter.take(node.text_content or ""))
            return None
        if tag == _COMMENT or tag in _LEFT_OUT or _is_hidden(node):
            return None
        if tag == "br":
            self._line.append("\n")
        elif tag == "pre":
            self._block(self._meter.take(node.text() or "").strip("\n"))
            return None
        elif tag == "table" and not _holds_table(node):
            self._end_line()
            made = table(_rows(node, self._meter))
            self._pieces += [made] if made else []
            return None
        elif tag not in _INLINE:
            self._end_line()
            self._level = _HEADINGS.get(tag, 0)
            self._item = tag == "li"
        return node.child

    def _leave(self, node: LexborNode) -> None:
        if (node.tag or "") not in _INLINE and node.tag != _TEXT:
            self._end_line()

    def _block(self, text: str) -> None:
        self._end_line()
        if text.strip():
            self._pieces.append(Piece(f"```\n{text}\n```\n\n", PieceKind.BLOCK))

    def _end_line(self) -> None:
        text = (
            "\n".join(
                line for part in "".join(self._line).split("\n") if (line := " ".join(part.split()))
            )
            if "\n" in self._line
            else " ".join("".join(self._line).split())
        )
        self._line = []
        if text and self._level:
            self._pieces.append(heading(text, self._level))
        elif text:
            self._pieces.append(paragraph(f"- {text}" if self._item else text))
        self._level, self._item = 0, False


def _is_hidden(node: LexborNode) -> bool:
    found = node.attributes
    if not found:
        return False
    style = "".join((found.get("style") or "").lower().split())
    return "hidden" in found or "display:none" in style or "visibility:hidden" in style


def _holds_table(node: LexborNode) -> bool:
    """Say whether a table holds another, as pages do that use tables for their layout."""
    return len(node.css("table")) > 1


def _rows(node: LexborNode, meter: TextMeter) -> Iterator[list[str]]:
    for row in node.css("tr"):
        yield [meter.take(cell.text() or "") for cell in row.css("td, th")]
