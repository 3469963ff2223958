"""Runs a program of the system and returns its output."""

import subprocess
from collections.abc import Sequence

import msgspec

from qms.memory.errors import UnavailableError

LIMIT_S = 300.0


class Ran(msgspec.Struct, frozen=True):
    """The exit code and output of a program."""

    exit_code: int
    output: str = ""
    errors: str = ""


def run(command: Sequence[str]) -> Ran:
    """Run a program to its end.

    Raises:
        UnavailableError: it is not installed, or does not end in time.
    """
    try:
        done = subprocess.run(  # noqa: S603 - the programs are named in this package
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=LIMIT_S,
            check=False,
        )
    except FileNotFoundError as error:
        raise UnavailableError(f"{command[0]} is not on this machine") from error
    except subprocess.TimeoutExpired as error:
        raise UnavailableError(f"{command[0]} did not end after {LIMIT_S:.0f} seconds") from error
    return Ran(done.returncode, done.stdout, done.stderr)
