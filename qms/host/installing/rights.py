"""Who may do what with the files of an installation, as Windows keeps it.

The service account may change its data and nothing of the program. What is set here cannot be
looked at under wine, so all of it is a list of commands that tests read.
"""

import logging
import os
import subprocess
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from qms.files.layout import SETTINGS, WRITABLE

SERVICE_ACCOUNT = r"NT SERVICE\QuickMemoryServer"

_ADMINISTRATORS = "*S-1-5-32-544"
_SYSTEM = "*S-1-5-18"
_CREATOR = "*S-1-3-0"
_WAIT_S = 600

Runner = Callable[[Sequence[str]], int]

log = logging.getLogger(__name__)


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """Whose service works in which folder."""

    data: Path
    account: str = ""
    """Whom the service runs as, in the words of Windows; empty for the account of its own."""
    is_alone: bool = False
    """The program is elsewhere: nobody but the service has anything to do in the folder."""


def commands(wanted: Wanted) -> list[list[str]]:
    """Return the calls of `icacls` that give the service its rights, and others none.

    Rights that somebody was given by hand stay, and everything below a folder has what the folder
    has: so nothing is set file by file.
    """
    data, account = wanted.data, _named(wanted.account)
    private = [[*_closed(data / name), f"{account}:(OI)(CI)M", "/C", "/Q"] for name in WRITABLE]
    settings = [str(data / SETTINGS), "/grant:r", f"{account}:M", "/Q"]
    # An atomic rewrite makes a file beside the settings and puts it in their place. It is the
    # service's own file until then; the files of the program are not.
    beside = [str(data), "/grant", f"{account}:(RX,WD)", f"{_CREATOR}:(OI)(NP)(IO)F", "/Q"]
    if not wanted.is_alone:
        return [*private, settings, beside]
    # Outside of Program Files everybody may change what is new in a folder. The settings are the
    # only file here; an editor that puts a file of its own in their place must not shut us out.
    files = [str(data), "/grant", f"{account}:(OI)(NP)(IO)M", "/Q"]
    return [[*_closed(data), "/Q"], *private, settings, beside, files]


def grant(wanted: Wanted, run: Runner | None = None) -> list[str]:
    """Give the service its rights; return what could not be given."""
    refused = []
    for arguments in commands(wanted):
        code = (run or _icacls)(arguments)
        if code != 0:
            log.warning("rights not given", extra={"path": arguments[0], "code": code})
            refused.append(arguments[0])
    return refused


def keep_private(path: Path, user: str, run: Runner | None = None) -> None:
    """Let nobody read a file but administrators and one user."""
    for arguments in (
        [str(path), "/inheritance:r", "/grant:r", f"{_ADMINISTRATORS}:F", f"{_SYSTEM}:F", "/Q"],
        [str(path), "/grant:r", f"{user}:F", "/Q"],
    ):
        if (code := (run or _icacls)(arguments)) != 0:
            log.warning("rights not given", extra={"path": arguments[0], "code": code})


def _closed(folder: Path) -> list[str]:
    """Return the beginning of a call after which administrators alone reach a folder."""
    full = [f"{who}:(OI)(CI)F" for who in (_ADMINISTRATORS, _SYSTEM)]
    return [str(folder), "/inheritance:r", "/grant:r", *full]


def _named(account: str) -> str:
    """Return an account as `icacls` knows it; the system's own has all rights already."""
    if account.casefold() in ("", "localsystem"):
        return SERVICE_ACCOUNT
    return account.removeprefix(".\\")


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
