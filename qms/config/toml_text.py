"""TOML text as people write it: its values, and the line that each of them stands on.

The values come from the standard library. What keeps comments and knows lines is slow to import and
to read with; most starts of a server neither change a text nor find something wrong in it.
"""

import tomllib
from copy import deepcopy
from typing import Any

from qms.config.convert import Place


class TomlText:
    """A text that was read, its values, and the lines they stand on.

    Raises:
        InvalidInputError: it is no TOML; `details` has the line.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._values = _values_of(text)

    def values(self) -> dict[str, Any]:
        """Return a copy of the values as plain dicts, lists and scalars."""
        return deepcopy(self._values)

    def line_of(self, place: Place) -> int | None:
        """Return the line of the value at `place`, or of the nearest thing around it."""
        from qms.config.toml_document import line_of

        return line_of(self.text, place)


def _values_of(text: str) -> dict[str, Any]:
    try:
        text.encode()
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        # Whoever wrote it is told where it is wrong by the reader that a change would use, too.
        from qms.config.toml_document import read

        plain: dict[str, Any] = read(text).unwrap()
        return plain
