"""EPUB: the chapters in the order of the spine."""

import posixpath

from qms.features.documents.parsers.html import read_html
from qms.features.documents.parsers.packages import Package, inside
from qms.features.documents.parsers.serve import serve
from qms.features.documents.parsers.xml_events import Attributes, elements, read_xml
from qms.features.documents.pieces import Extracted, Piece, ReadLimits, UnreadableError
from qms.sandbox.child import Channel

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_PAGES = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml"})


def work(channel: Channel) -> None:
    """Read one file in a worker."""
    serve(channel, read_epub)


def read_epub(data: bytes, limits: ReadLimits) -> Extracted:
    """Return the text of an EPUB file.

    Raises:
        UnreadableError: it is no such file, protected, or beyond a limit.
    """
    package = Package(data, limits)
    if _CONTAINER not in package:
        raise UnreadableError("the package is no EPUB file: it lacks META-INF/container.xml")
    roots = elements(package.read(_CONTAINER), "rootfile")
    if not roots:
        raise UnreadableError("its container names no book")
    opf = inside("", roots[0].get("full-path", ""))
    book = _Book(posixpath.dirname(opf))
    read_xml(package.read(opf), book)
    hidden = _encrypted(package)
    pieces: list[Piece] = []
    warnings: list[str] = []
    left = limits.text_bytes
    for name in book.chapters():
        if name in hidden or name not in package:
            reason = "encrypted" if name in hidden else "missing"
            warnings.append(f"chapter {name[:100]} is {reason} and was left out")
            continue
        read = read_html(_decoded(package.read(name)), limits)
        pieces += read.pieces
        left -= sum(len(piece.text) for piece in read.pieces)
        if left < 0:
            raise UnreadableError("it has more text than a document may have")
    if hidden and not pieces:
        raise UnreadableError("the book is protected by encryption")
    return Extracted(pieces=pieces, title=book.title(), warnings=warnings)


def _decoded(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8-sig", "replace")


def _encrypted(package: Package) -> frozenset[str]:
    if _ENCRYPTION not in package:
        return frozenset()
    found = elements(package.read(_ENCRYPTION), "CipherReference")
    return frozenset(inside("", one.get("URI", "")) for one in found)


class _Book:
    """The package document: title, manifest and spine."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._items: dict[str, Attributes] = {}
        self._spine: list[str] = []
        self._title: list[str] | None = None
        self._in_title = False

    def start(self, name: str, attributes: Attributes) -> None:
        match name:
            case "title" if self._title is None:
                self._in_title, self._title = True, []
            case "item":
                self._items[attributes.get("id", "")] = attributes
            case "itemref":
                self._spine.append(attributes.get("idref", ""))

    def end(self, name: str) -> None:
        if name == "title":
            self._in_title = False

    def text(self, data: str) -> None:
        if self._in_title and self._title is not None:
            self._title.append(data)

    def title(self) -> str | None:
        """Return the title of the book."""
        return " ".join("".join(self._title or ()).split()) or None

    def chapters(self) -> list[str]:
        """Return the names of the pages in the order of the spine, each once."""
        listed = dict.fromkeys(self._spine)
        found = (self._items[one] for one in listed if one in self._items)
        return [
            inside(self._folder, one.get("href", ""))
            for one in found
            if one.get("media-type") in _PAGES and "nav" not in one.get("properties", "").split()
        ]
