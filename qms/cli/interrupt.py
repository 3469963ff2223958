"""Handles Ctrl-C before and after a command: one line and exit code 130, no traceback."""

import os
import signal
from types import FrameType

EXIT_CODE = 130
LINE = "interrupted: run the same command again to continue"


def end_at_once() -> None:
    """End the process at Ctrl-C from now on: while modules load, and while the interpreter ends.

    A process that was started with Ctrl-C ignored continues to ignore it.
    """
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _end)


def raise_in_command() -> None:
    """Let Ctrl-C raise KeyboardInterrupt from now on, so that a command closes what it opened."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(_signal: int, _frame: FrameType | None) -> None:
    os.write(2, f"{LINE}\n".encode())
    os._exit(EXIT_CODE)
