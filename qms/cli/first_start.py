"""Shows what a server says at its start: lines for programs, a box for a person at a terminal.

The lines `admin key: …`, `setup link: …` and `listening: …` are a contract: programs read them from
a pipe. Only a first start has a key; only at a terminal the box replaces the lines of key and link.
"""

import sys
from typing import TextIO

from qms.cli import output

LISTENING, ADMIN_KEY, SETUP_LINK = "listening", "admin key", "setup link"

_CORNERS = {"top": "╭─ ", "side": "│", "bottom": "╰", "rule": "─"}
_ASCII_CORNERS = {"top": "+- ", "side": "|", "bottom": "+", "rule": "-"}
_MOST_COLUMNS = 78


class StartLines:
    """Prints each line of a start; on a terminal those of a first start wait for the box."""

    def __init__(self, stream: TextIO | None = None) -> None:
        """Print to a stream, by default to standard output."""
        self._stream = stream or sys.stdout
        self._waiting: dict[str, str] = {}

    def __call__(self, line: str) -> None:
        """Print a line, or keep it until the server says where it listens."""
        name, _, value = line.partition(": ")
        if name in (ADMIN_KEY, SETUP_LINK) and self._stream.isatty():
            self._waiting[name] = value
            return
        if name == LISTENING and self._waiting:
            self._print(_box(value, self._waiting, self._stream))
            self._waiting = {}
        self._print(line)

    def close(self) -> None:
        """Print the lines that still wait: a server that cannot listen has made its key already."""
        for name, value in self._waiting.items():
            self._print(f"{name}: {value}")
        self._waiting = {}

    def _print(self, text: str) -> None:
        # Flushed: the parent process waits for this line on a pipe.
        print(text, file=self._stream, flush=True)


def _box(url: str, said: dict[str, str], stream: TextIO) -> str:
    """Return the address, the link and the key of a first start; open to the right, for copying."""
    corners = _CORNERS if _can_draw(stream) else _ASCII_CORNERS
    columns = min(_MOST_COLUMNS, output.terminal_width())
    content = ["", "Address", f"  {url}"]
    if SETUP_LINK in said:
        content += ["", "Sign in: open this link once, within 30 minutes, on this machine"]
        content += [f"  {said[SETUP_LINK]}"]
    if ADMIN_KEY in said:
        content += ["", "Admin key: shown only now, keep it", f"  {said[ADMIN_KEY]}"]
    title = corners["top"] + "Quick Memory Server is running "
    return "\n".join(
        [
            "",
            title + corners["rule"] * (columns - len(title)),
            *(f"{corners['side']}  {text}".rstrip() for text in [*content, ""]),
            corners["bottom"] + corners["rule"] * (columns - 1),
            "",
        ]
    )


def _can_draw(stream: TextIO) -> bool:
    return (stream.encoding or "").lower().startswith("utf")
