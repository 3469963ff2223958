"""Shows progress on standard error: a bar on a terminal, at most ten lines elsewhere."""

import sys

from qms.cli import output

_BAR_COLUMNS = 30
_LINES = 10
"""The number of lines per task where no bar can be drawn."""

BYTES, ENTRIES = "bytes", "entries"
_MEGABYTE = 1_000_000


class Progress:
    """The progress of one task at a time, with a name and a total."""

    def __init__(self) -> None:
        self._shown = ""
        self._is_bar = sys.stderr.isatty()

    def show(self, label: str, done: int, total: int, unit: str) -> None:
        """Show how much of a task is done, in a unit; bytes are shown as MB."""
        share = min(1.0, done / total) if total else 1.0
        if self._is_bar:
            filled = int(share * _BAR_COLUMNS)
            bar = "#" * filled + "-" * (_BAR_COLUMNS - filled)
            self._draw(f"{label} [{bar}] {_amounts(min(done, total), total, unit)}")
        elif (line := f"{label}: {int(share * _LINES) * 100 // _LINES} %") != self._shown:
            self._shown = line
            output.note(line)

    def end(self) -> None:
        """End the bar with a line break."""
        if self._is_bar and self._shown:
            sys.stderr.write("\n")
            sys.stderr.flush()
        self._shown = ""

    def _draw(self, line: str) -> None:
        if line == self._shown:
            return
        line = output.cut(line, output.terminal_width() - 1)
        sys.stderr.write("\r" + line + " " * max(0, len(self._shown) - len(line)))
        sys.stderr.flush()
        self._shown = line


def _amounts(done: int, total: int, unit: str) -> str:
    if unit == BYTES:
        return f"{done / _MEGABYTE:,.1f} of {total / _MEGABYTE:,.1f} MB"
    return f"{done:,} of {total:,} {unit}"
