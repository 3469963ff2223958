"""memoryctl on a pseudo terminal, as a person sees it."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import msgspec

LIMIT_S = 60


class Screen(msgspec.Struct, frozen=True):
    """What the terminal showed, and how the program ended."""

    code: int
    text: str


def on_a_terminal(
    *words: str, answers: str = "", columns: int = 80, environment: dict[str, str] | None = None
) -> Screen:
    """Run memoryctl with a terminal for all three streams; `answers` is typed ahead."""
    ours, theirs = os.openpty()
    os.write(ours, answers.encode())
    process = subprocess.Popen(
        [sys.executable, "-m", "qms.cli.main", *words],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=Path.cwd(),
        env={**os.environ, "TERM": "xterm", "COLUMNS": str(columns), **(environment or {})},
    )
    os.close(theirs)
    guard = threading.Timer(LIMIT_S, process.kill)
    guard.start()
    shown = b""
    while True:
        try:
            chunk = os.read(ours, 4096)
        except OSError:
            break  # Linux says so when the last writer has gone
        if not chunk:
            break
        shown += chunk
    code = process.wait()
    guard.cancel()
    os.close(ours)
    return Screen(code, shown.decode().replace("\r\n", "\n"))
