"""Reads lines from a terminal, with history and completion where readline is available."""

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from qms.cli import output
from qms.text.escapes import escape

MAX_HISTORY = 1000

Completer = Callable[[str, str], list[str]]
"""From the whole line and its last word to the possible completions of that word."""


class LineInput:
    """Yields lines from a terminal or a pipe; `close` saves the history."""

    def __init__(self, completer: Completer, history: Path) -> None:
        self._completer = completer
        self._history = history
        self._matches: list[str] = []
        self._readline = _readline() if output.is_interactive() else None
        if self._readline is not None:
            self._prepare(self._readline)

    def lines(self, prompt: Callable[[], str]) -> Iterator[str]:
        """Yield lines until the end of the input or Ctrl-C."""
        if not output.is_interactive():
            for line in sys.stdin:  # noqa: UP028  `yield from` would close it
                yield line
            return
        while True:
            try:
                yield input(prompt())
            except (EOFError, KeyboardInterrupt):
                output.note("")
                return

    def confirm(self, question: str) -> bool:
        """Ask for confirmation, with the same reader as for lines.

        Raises:
            InvalidInputError: standard input is not a terminal.
        """
        if self._readline is None:
            return output.confirm(question)
        try:
            answer = input(f"{escape(question)} [y/N] ")
        except (EOFError, KeyboardInterrupt):
            return False
        if answer:
            self._readline.remove_history_item(self._readline.get_current_history_length() - 1)
        return answer.strip().lower() in ("y", "yes")

    def close(self) -> None:
        """Save the history, if the disk is writable."""
        if self._readline is None:
            return
        with suppress(OSError):
            self._history.parent.mkdir(parents=True, exist_ok=True)
            self._history.touch(mode=0o600)
            self._readline.set_history_length(MAX_HISTORY)
            self._readline.write_history_file(str(self._history))

    def _prepare(self, readline: Any) -> None:
        with suppress(OSError):
            readline.read_history_file(str(self._history))
        readline.set_completer(self._complete)
        readline.set_completer_delims(" \t")
        # On macOS it is libedit, with another syntax for bindings.
        is_libedit = "libedit" in (readline.__doc__ or "")
        readline.parse_and_bind("bind ^I rl_complete" if is_libedit else "tab: complete")

    def _complete(self, word: str, state: int) -> str | None:
        if state == 0 and self._readline is not None:
            self._matches = self._completer(self._readline.get_line_buffer(), word)
        return self._matches[state] if state < len(self._matches) else None


def _readline() -> Any:
    try:
        import readline  # not on Windows
    except ImportError:
        return None
    return readline
