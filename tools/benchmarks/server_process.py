"""A server in a process of its own: its start, what it says until it listens, and its end."""

import subprocess
import sys
import threading
from pathlib import Path
from typing import IO

STOP_LIMIT_S = 120.0


class NoServerError(Exception):
    """There is no server to measure; the message says why."""


class ServerProcess:
    """A server that prints `listening: URL`; after `limit_s` it is killed, unless told not to."""

    def __init__(
        self,
        *command: str,
        limit_s: float,
        log: IO[bytes] | None = None,
        checkout: Path | None = None,
    ) -> None:
        python = sys.executable if checkout is None else str(checkout / ".venv" / "bin" / "python")
        self._process = subprocess.Popen(
            [python, "-m", *command],
            cwd=checkout,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if log is None else log,
            encoding="utf-8",
        )
        self._guard = threading.Timer(limit_s, self._process.kill)
        self._guard.start()

    @property
    def id(self) -> int:
        """Return the id of the process."""
        return self._process.pid

    def wait_until_listening(self) -> dict[str, str]:
        """Return what it said up to its address, each by the words before the colon.

        Raises:
            NoServerError: it ends before that.
        """
        assert self._process.stdout is not None
        said: dict[str, str] = {}
        for line in self._process.stdout:
            name, _, value = line.partition(": ")
            said[name] = value.strip()
            if name == "listening":
                return said
        raise NoServerError("the server ends before it listens")

    def lift_limit(self) -> None:
        """Let it run for as long as it takes."""
        self._guard.cancel()

    def stop(self) -> None:
        """End it as a signal does, or by force when it does not end."""
        self._guard.cancel()
        self._process.terminate()
        try:
            self._process.communicate(timeout=STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
