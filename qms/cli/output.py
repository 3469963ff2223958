"""Prints data to standard output and messages to standard error, escaped for terminals."""

import json
import os
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

import click

from qms.memory.errors import InvalidInputError, QmsError
from qms.text.escapes import escape, escape_json

ELLIPSIS = "…"
GAP = "  "

_KEPT_IN_TEXT = "\n\t"


def answer(value: Any) -> None:
    """Print a JSON value on standard output."""
    is_unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    _write(sys.stdout, json_text(value, ensure_ascii=not is_unicode))


def json_text(value: Any, *, ensure_ascii: bool = False) -> str:
    """Return a value as indented JSON, with control characters escaped."""
    return escape_json(json.dumps(value, ensure_ascii=ensure_ascii, indent=2))


def json_line(value: Any) -> str:
    """Return a value as JSON on one line."""
    return escape_json(json.dumps(value, ensure_ascii=False))


def line(text: str) -> None:
    """Print one line of data on standard output."""
    _write(sys.stdout, escape(text))


def styled_line(*parts: tuple[str, dict[str, Any]], fits: bool = False) -> None:
    """Print one line of data on standard output; on a terminal each part has its style.

    A line that `fits` is cut to the width of the terminal.
    """
    rest = terminal_width() if fits and is_terminal() else None
    shown = []
    for part, style in parts:
        content = escape(part)
        if rest is not None:
            content = cut(content, rest) if rest > 0 else ""
            rest -= width(content)
        shown.append(_styled(content, sys.stdout, **style))
    _write(sys.stdout, "".join(shown).rstrip())


def text(content: str) -> None:
    """Print text of several lines on standard output."""
    _write(sys.stdout, escape(content, keep=_KEPT_IN_TEXT))


def data(content: str) -> None:
    """Print data on standard output: escaped on a terminal, unchanged elsewhere."""
    if sys.stdout.isatty():
        text(content)
    else:
        _write(sys.stdout, content)


def note(message: str) -> None:
    """Print a message on standard error."""
    _write(sys.stderr, escape(message))


def warning(message: str) -> None:
    """Print a warning on standard error."""
    _write(sys.stderr, _styled("warning:", sys.stderr, fg="yellow") + f" {escape(message)}")


def hint(message: str) -> None:
    """Print on standard error what to do next."""
    _write(sys.stderr, _styled("hint:", sys.stderr, fg="cyan") + f" {escape(message)}")


def failure(error: QmsError, *, about: str = "") -> None:
    """Print an error and its hints on standard error."""
    where = f"{about}: " if about else ""
    message = escape(where + error.message)
    _write(sys.stderr, _styled("error:", sys.stderr, fg="red") + f" {message}")
    for remark in getattr(error, "__notes__", ()):
        hint(remark)


def is_interactive() -> bool:
    """Return whether standard input is a terminal, so that a person can be asked."""
    return sys.stdin.isatty()


def confirm(question: str) -> bool:
    """Ask for confirmation.

    Raises:
        InvalidInputError: standard input is not a terminal.
    """
    if not is_interactive():
        error = InvalidInputError(f"confirmation needs a terminal: {question}", field="yes")
        error.add_note("pass --yes to proceed, or --dry-run to see what would happen")
        raise error
    return ask(question)


def ask(question: str) -> bool:
    """Ask a yes/no question; anything but yes is no."""
    sys.stderr.write(f"{escape(question)} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, flexible: int) -> None:
    """Print a table; on a terminal the `flexible` column is cut so that the rows fit."""
    cells = [[escape(cell) for cell in row] for row in rows]
    widths = [max(map(width, column)) for column in zip(head, *cells, strict=True)]
    if is_terminal():
        rest = sum(widths) - widths[flexible] + len(GAP) * (len(widths) - 1)
        widths[flexible] = max(1, min(widths[flexible], terminal_width() - rest))
    _write(sys.stdout, _styled(_row(head, widths), sys.stdout, bold=True))
    for row in cells:
        _write(sys.stdout, _row(row, widths))


def is_terminal() -> bool:
    """Return whether standard output is a terminal."""
    return sys.stdout.isatty()


def terminal_width() -> int:
    """Return the number of columns of the terminal."""
    import shutil  # loads the compressors; a pipe needs no width

    return shutil.get_terminal_size().columns


def width(content: str) -> int:
    """Return the number of columns that a text takes."""
    return sum(_character_width(character) for character in content)


def cut(content: str, columns: int) -> str:
    """Cut a text to a number of columns, with an ellipsis if it was cut."""
    if width(content) <= columns:
        return content
    kept, used = "", 0
    for character in content:
        used += _character_width(character)
        if used > columns - 1:
            break
        kept += character
    return kept + ELLIPSIS


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    fitted = [cut(cell, columns) for cell, columns in zip(cells, widths, strict=True)]
    padded = [
        cell + " " * (columns - width(cell)) for cell, columns in zip(fitted, widths, strict=True)
    ]
    return GAP.join(padded).rstrip()


def _character_width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _styled(content: str, stream: TextIO, **style: Any) -> str:
    uses_colour = stream.isatty() and not os.environ.get("NO_COLOR")
    uses_colour = uses_colour and os.environ.get("TERM") != "dumb"
    return click.style(content, **style) if uses_colour and content and style else content


def _write(stream: TextIO, content: str) -> None:
    stream.write(content + "\n")
    stream.flush()
