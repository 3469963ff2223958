"""Reading lines from a person: history and completion where readline is, plain lines elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from qms.cli import output
from qms.telemetry.escapes import escape

MAX_HISTORY = 1000

Completer = Callable[[str, str], list[str]]
"""From the whole line and the word at its end to what the word can become."""


class LineInput:
    """Yields what is typed, or what comes through a pipe; `close` keeps the history."""

    def __init__(self, completer: Completer, history: Path) -> None:
        self._completer = completer
        self._history = history
        self._matches: list[str] = []
        self._readline = _readline() if output.is_interactive() else None
        if self._readline is not None:
            self._prepare(self._readline)

    def lines(self, prompt: Callable[[], str]) -> Iterator[str]:
        """Yield one line after the other until the input or the person's patience ends."""
        if not output.is_interactive():
            yield from sys.stdin
            return
        while True:
            try:
                yield input(prompt())
            except (EOFError, KeyboardInterrupt):
                output.note("")
                return

    def confirm(self, question: str) -> bool:
        """Ask before something that destroys, with the same reader as for lines.

        Raises:
            InvalidInputError: nobody is there to be asked.
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
        """Keep what was typed for the next time, where the disk takes it."""
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
        # macOS has libedit in its place, with a language of its own.
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
