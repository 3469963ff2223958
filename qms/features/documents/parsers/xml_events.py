"""Events of an XML file by expat, without document types, entities and external references."""

from typing import Protocol
from xml.parsers import expat

from qms.features.documents.pieces import UnreadableError

Attributes = dict[str, str]

_MOST_DEPTH = 1_000


class XmlReader(Protocol):
    """What is told about a file; names come without their namespace."""

    def start(self, name: str, attributes: Attributes, /) -> None:
        """Take the beginning of an element."""

    def end(self, name: str, /) -> None:
        """Take the end of an element."""

    def text(self, data: str, /) -> None:
        """Take characters between elements."""


def read_xml(data: bytes, reader: XmlReader) -> None:
    """Tell a reader about every element of an XML file.

    Raises:
        UnreadableError: it is not well-formed, nested too deeply, or declares a document type.
    """
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse
    counted = _Depth(reader)
    parser.StartElementHandler = counted.start
    parser.EndElementHandler = counted.end
    parser.CharacterDataHandler = reader.text
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise UnreadableError(f"an XML part of it is damaged ({error})") from None


class _Depth:
    def __init__(self, reader: XmlReader) -> None:
        self._reader = reader
        self._open = 0

    def start(self, name: str, attributes: Attributes) -> None:
        self._open += 1
        if self._open > _MOST_DEPTH:
            raise UnreadableError(f"an XML part of it is nested more than {_MOST_DEPTH} deep")
        self._reader.start(local(name), {_key(key): one for key, one in attributes.items()})

    def end(self, name: str) -> None:
        self._open -= 1
        self._reader.end(local(name))


def _refuse(*_declaration: object) -> None:
    raise UnreadableError("an XML part of it declares a document type, which is not read")


def _key(name: str) -> str:
    """Return the name of an attribute; one that names a relation is told apart by `r:`."""
    space, _, own = name.rpartition(" ")
    return f"r:{own}" if space.endswith("/relationships") else own


def local(name: str) -> str:
    """Return a name without its namespace."""
    return name.rpartition(" ")[2]


class Elements:
    """Collects the attributes of all elements of one name."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.found: list[Attributes] = []

    def start(self, name: str, attributes: Attributes) -> None:
        """Keep the attributes of an element."""
        if name == self._name:
            self.found.append(attributes)

    def end(self, name: str) -> None:
        """Ignore the end of an element."""

    def text(self, data: str) -> None:
        """Ignore characters."""


def elements(data: bytes, name: str) -> list[Attributes]:
    """Return the attributes of all elements of one name, in order."""
    found = Elements(name)
    read_xml(data, found)
    return found.found
