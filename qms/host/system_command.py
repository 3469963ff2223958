"""A program of the system, run for what it says."""

import subprocess
from collections.abc import Sequence

import msgspec

from qms.domain.errors import UnavailableError

LIMIT_S = 300.0


class Ran(msgspec.Struct, frozen=True):
    """What a program said and how it ended."""

    exit_code: int
    output: str = ""
    errors: str = ""


def run(command: Sequence[str]) -> Ran:
    """Run a program to its end.

    Raises:
        UnavailableError: it is not on this machine, or does not end.
    """
    try:
        done = subprocess.run(  # noqa: S603 - the programs are named in this room
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
        raise UnavailableError(f"{command[0]} does not end") from error
    return Ran(done.returncode, done.stdout, done.stderr)
