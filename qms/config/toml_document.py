"""Parses TOML text with tomlkit, and finds items and their line numbers."""

import itertools
import re
from collections.abc import Iterator

import tomlkit
from tomlkit.container import Container
from tomlkit.exceptions import KeyAlreadyPresent, ParseError, TOMLKitError
from tomlkit.items import AoT, Array, InlineTable, Item, Table
from tomlkit.toml_document import TOMLDocument

from qms.config.convert import Place
from qms.memory.errors import InvalidInputError

_POSITION = re.compile(r"(?<!\s)\s*at line \d+ col \d+$")


def line_of(text: str, place: Place) -> int | None:
    """Return the line of the value at `place`, or of its nearest parent."""
    document = read(text)
    while place:
        for item in items_at(document, place):
            line = _line_of_item(text, document, item)
            if line is not None:
                return line
        place = place[:-1]
    return None


def _line_of_item(text: str, document: TOMLDocument, item: Item) -> int | None:
    # tomlkit keeps no positions: mark the item, and find the mark in the output.
    indent, mark = item.trivia.indent, unused_mark(text)
    item.trivia.indent = indent + mark
    before, found, _ = document.as_string().partition(mark)
    item.trivia.indent = indent
    return _line_at(before, len(before)) if found else None


def read(text: str) -> TOMLDocument:
    """Return the document of a text.

    Raises:
        InvalidInputError: the text is not TOML; `details` has the line.
    """
    try:
        text.encode()
        return tomlkit.parse(text)
    except ParseError as error:
        reason = _POSITION.sub("", str(error))
        if "'\\x00'" in reason and "\0" not in text:
            reason = "the file ends in the middle of a value"
        raise _not_toml(reason, error.line) from None
    except UnicodeEncodeError as error:
        raise _not_toml("half of a surrogate pair", _line_at(text, error.start)) from None
    except KeyAlreadyPresent as error:
        raise _not_toml(str(error), _line_of_second(text)) from None
    except (TOMLKitError, ValueError, RecursionError) as error:
        raise _not_toml(str(error), None) from None


def items_at(within: Container | Item, place: Place) -> Iterator[Item]:
    """Yield the items at `place`: more than one when a table is written in several parts."""
    if not place:
        if isinstance(within, Item):
            yield within
        return
    first, rest = place[0], place[1:]
    if isinstance(within, (Table, InlineTable)):
        within = within.value
    if isinstance(within, Container):
        for key, item in within.body:
            if key is not None and key.key == first:
                yield from items_at(item, rest)
    elif isinstance(within, (AoT, Array)) and isinstance(first, int) and first < len(within):
        inner = within[first]
        if isinstance(inner, Item):
            yield from items_at(inner, rest)


def is_there(document: TOMLDocument, place: Place) -> bool:
    """Say whether there is a value or a table at `place`, even an empty one."""
    return next(items_at(document, place), None) is not None


def unused_mark(text: str) -> str:
    """Return a marker that does not occur in the text."""
    return next(
        mark for number in itertools.count() if (mark := f"\ue000{number}\ue001") not in text
    )


def _not_toml(reason: str, line: int | None) -> InvalidInputError:
    where = f"line {line}: " if line else ""
    return InvalidInputError(f"{where}not valid TOML: {reason.rstrip('.')}", line=line)


def _line_at(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _line_of_second(text: str) -> int | None:
    """Return the last line of the shortest prefix of the text that repeats a key."""
    lines = text.split("\n")
    low, high = 1, len(lines)
    while low < high:
        middle = (low + high) // 2
        if _repeats_key("\n".join(lines[:middle])):
            high = middle
        else:
            low = middle + 1
    return low


def _repeats_key(text: str) -> bool:
    try:
        tomlkit.parse(text)
    except KeyAlreadyPresent:
        return True
    except (TOMLKitError, ValueError):
        return False
    return False
