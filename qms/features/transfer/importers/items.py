"""Items of an import: entries to store, or broken items with their place and reason."""

from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any, TypeVar

import msgspec

from qms.memory.entry import AGENT_ID, Document
from qms.memory.errors import UNDECODABLE
from qms.memory.limits import DEFAULT_LIMITS

IMPORTED_FROM = "importedFromAgentId"
"""The metadata key for the author that an export claims."""

MAX_LINE_BYTES = 2 * DEFAULT_LIMITS.line_bytes
"""A longer line holds no entry that could be stored."""


class Found(msgspec.Struct, frozen=True):
    """An entry as in a request, with a local id, and its place in the file."""

    place: str
    document: Document


class Broken(msgspec.Struct, frozen=True):
    """An item that cannot be imported, and the reason; `field` is empty for the whole item."""

    place: str
    field: str
    reason: str

    def __str__(self) -> str:
        return f"{self.place}: {f'{self.field}: ' if self.field else ''}{self.reason}"


Item = Found | Broken
Opener = Callable[[], IO[bytes]]
"""Opens the export; some are read twice, since relations may follow their source."""

T = TypeVar("T", bound=msgspec.Struct)


def restamped(document: Document, *, trusts_source: bool) -> Document:
    """Return an entry without its author, so that the importer becomes it; trusted ones keep it."""
    claimed = document.get("agentId")
    is_author = isinstance(claimed, str) and AGENT_ID.fullmatch(claimed) is not None
    if trusts_source and is_author:
        return document
    kept = {key: value for key, value in document.items() if key != "agentId"}
    if is_author:
        kept["metadata"] = {**kept.get("metadata", {}), IMPORTED_FROM: claimed}
    return kept


def renamed(values: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return values by field; `names` maps a field to its name in the file."""
    if not names:
        return values
    fields = {name: field for field, name in names.items() if name in values}
    kept = {name: value for name, value in values.items() if name not in fields.values()}
    return {fields.get(name, name): value for name, value in kept.items()}


def read_lines(file: IO[bytes]) -> Iterator[tuple[str, bytes] | Broken]:
    """Yield the lines that are not blank, each with its place."""
    number = 0
    while line := file.readline(MAX_LINE_BYTES):
        number += 1
        place = f"line {number:,}"
        if len(line) == MAX_LINE_BYTES and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = file.readline(MAX_LINE_BYTES)
            yield Broken(place, "", f"is longer than {MAX_LINE_BYTES:,} bytes")
        elif line := line.removeprefix(b"\xef\xbb\xbf").strip():
            yield place, line


def decode(data: bytes, wanted: type[T], place: str) -> T | Broken:
    """Return a decoded value of an export, or Broken with the reason."""
    try:
        return msgspec.json.decode(data, type=wanted)
    except msgspec.ValidationError as error:
        reason, _, path = str(error).partition(" - at `$")
        name = path.strip("`").removeprefix(".")
        if reason.startswith("Object missing required field"):
            return Broken(place, reason.split("`")[1], "is missing")
        return Broken(place, name, reason[:1].lower() + reason[1:])
    except UNDECODABLE as error:
        return Broken(place, "", f"is not JSON: {error}")
    except RecursionError:
        return Broken(place, "", "is nested too deeply")


def text_of(value: Any) -> str | None:
    """Return a text that is not empty, else None."""
    return value if isinstance(value, str) and value else None
