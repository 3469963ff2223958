"""Sets the Windows access rights of an installation's files with `icacls`.

The service account may change its data but not the program. Wine has no such rights, so they are
a list of commands that tests read.
"""

import logging
import os
import subprocess
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from qms.config.install_layout import SETTINGS, WRITABLE

SERVICE_ACCOUNT = r"NT SERVICE\QuickMemoryServer"

_ADMINISTRATORS = "*S-1-5-32-544"
_SYSTEM = "*S-1-5-18"
_CREATOR = "*S-1-3-0"
_WAIT_S = 600

Runner = Callable[[Sequence[str]], int]

log = logging.getLogger(__name__)


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """The data folder of a service and its account."""

    data: Path
    account: str = ""
    """The Windows account of the service; empty for its own account."""
    is_alone: bool = False
    """The program is elsewhere: only the service uses the folder."""


def commands(wanted: Wanted) -> list[list[str]]:
    """Return the `icacls` calls that give the service its rights, and other users none.

    Rights granted by hand stay. Files inherit the rights of their folder, so none is set file by
    file.
    """
    data, account = wanted.data, _named(wanted.account)
    private = [[*_closed(data / name), f"{account}:(OI)(CI)M", "/C", "/Q"] for name in WRITABLE]
    settings = [str(data / SETTINGS), "/grant:r", f"{account}:M", "/Q"]
    # An atomic rewrite creates a file beside the settings and renames it. The service may create
    # and own such a file; it may not change the files of the program.
    beside = [str(data), "/grant", f"{account}:(RX,WD)", f"{_CREATOR}:(OI)(NP)(IO)F", "/Q"]
    if not wanted.is_alone:
        return [*private, settings, beside]
    # Outside of Program Files every user may change new files in a folder. The settings are the
    # only file here; the service needs access also after an editor has replaced it.
    files = [str(data), "/grant", f"{account}:(OI)(NP)(IO)M", "/Q"]
    return [[*_closed(data), "/Q"], *private, settings, beside, files]


def grant(wanted: Wanted, run: Runner | None = None) -> list[str]:
    """Give the service its rights; return the paths that failed."""
    refused = []
    for arguments in commands(wanted):
        code = (run or _icacls)(arguments)
        if code != 0:
            log.warning("rights not given", extra={"path": arguments[0], "code": code})
            refused.append(arguments[0])
    return refused


def keep_private(path: Path, user: str, run: Runner | None = None) -> None:
    """Give only administrators and one user access to a file."""
    for arguments in (
        [str(path), "/inheritance:r", "/grant:r", f"{_ADMINISTRATORS}:F", f"{_SYSTEM}:F", "/Q"],
        [str(path), "/grant:r", f"{user}:F", "/Q"],
    ):
        if (code := (run or _icacls)(arguments)) != 0:
            log.warning("rights not given", extra={"path": arguments[0], "code": code})


def _closed(folder: Path) -> list[str]:
    """Return the first arguments of a call that gives only administrators access to a folder."""
    full = [f"{who}:(OI)(CI)F" for who in (_ADMINISTRATORS, _SYSTEM)]
    return [str(folder), "/inheritance:r", "/grant:r", *full]


def _named(account: str) -> str:
    """Return an account name for `icacls`; LocalSystem has all rights already."""
    if account.casefold() in ("", "localsystem"):
        return SERVICE_ACCOUNT
    return account.removeprefix(".\\")


def make_folders(data: Path, names: Iterable[str] = WRITABLE) -> None:
    """Create the folders that the service writes to."""
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
