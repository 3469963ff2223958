"""Who may do what with the files of an installation, as Windows keeps it.

The service account may change its data and nothing of the program. What is set here cannot be
looked at under wine, so all of it is a list of commands that tests read.
"""

import logging
import os
import subprocess
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from qms.files.layout import SETTINGS, WRITABLE

SERVICE_ACCOUNT = r"NT SERVICE\QuickMemoryServer"

_ADMINISTRATORS = "*S-1-5-32-544"
_SYSTEM = "*S-1-5-18"
_CREATOR = "*S-1-3-0"
_WAIT_S = 600

Runner = Callable[[Sequence[str]], int]

log = logging.getLogger(__name__)


def commands(data: Path, account: str = SERVICE_ACCOUNT) -> list[list[str]]:
    """Return the calls of `icacls` that give the service its rights, and others none."""
    private = [
        [str(data / name), "/inheritance:r", "/grant:r"]
        + [f"{who}:(OI)(CI)F" for who in (_ADMINISTRATORS, _SYSTEM)]
        + [f"{account}:(OI)(CI)M", "/T", "/C", "/Q"]
        for name in WRITABLE
    ]
    settings = [str(data / SETTINGS), "/grant:r", f"{account}:M", "/Q"]
    # An atomic rewrite makes a file beside the settings and puts it in their place. It is the
    # service's own file until then; the files of the program are not.
    beside = [str(data), "/grant", f"{account}:(RX,WD)", f"{_CREATOR}:(OI)(NP)(IO)F", "/Q"]
    return [*private, settings, beside]


def grant(data: Path, run: Runner | None = None) -> list[str]:
    """Give the service its rights; return what could not be given."""
    refused = []
    for arguments in commands(data):
        code = (run or _icacls)(arguments)
        if code != 0:
            log.warning("rights not given", extra={"path": arguments[0], "code": code})
            refused.append(arguments[0])
    return refused


def make_folders(data: Path, names: Iterable[str] = WRITABLE) -> None:
    """Have the folders in which the service works."""
    for name in names:
        (data / name).mkdir(parents=True, exist_ok=True)


def _icacls(arguments: Sequence[str]) -> int:
    program = Path(os.environ.get("SYSTEMROOT", r"C:\Windows"), "System32", "icacls.exe")
    try:
        ended = subprocess.run(  # noqa: S603 - the arguments are this module's own
            [str(program), *arguments],
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_WAIT_S,
        )
    except (OSError, subprocess.TimeoutExpired):
        log.warning("icacls cannot be run", exc_info=True)
        return -1
    return ended.returncode
