"""Reads TOML text: its values with tomllib, and line numbers with tomlkit only when needed.

tomlkit keeps comments and knows lines, but is slow to import and to parse; most starts of a server
neither change a text nor find an error in it.
"""

import tomllib
from copy import deepcopy
from typing import Any

from qms.config.convert import Place


class TomlText:
    """A parsed text, its values, and their lines.

    Raises:
        InvalidInputError: the text is not TOML; `details` has the line.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._values = _values_of(text)

    def values(self) -> dict[str, Any]:
        """Return a copy of the values as plain dicts, lists and scalars."""
        return deepcopy(self._values)

    def line_of(self, place: Place) -> int | None:
        """Return the line of the value at `place`, or of its nearest parent."""
        from qms.config.toml_document import line_of

        return line_of(self.text, place)


def _values_of(text: str) -> dict[str, Any]:
    try:
        text.encode()
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        # The error and its line come from tomlkit, which a change would use, too.
        from qms.config.toml_document import read

        plain: dict[str, Any] = read(text).unwrap()
        return plain
