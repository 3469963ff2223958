"""Manages the launchd daemon with a property list and `launchctl`.

A stopped service is unloaded, so that launchd does not restart it. It still starts with the
machine, because launchd loads its property list at boot.
"""

import os
import plistlib
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from qms.app.service_facts import LABEL
from qms.config.root import LOCK_PLACE
from qms.disk.disk import Disk
from qms.disk.root_lock import read_owner
from qms.memory.errors import ConflictError, InvalidInputError, UnavailableError
from qms.platforms.posix_setup import check_account, check_root, is_root, make_root, not_installed
from qms.platforms.service_control import ServiceSpec, ServiceState, ServiceStatus
from qms.platforms.system_command import Ran, run

DEFAULT_ROOT = Path("/Library/Application Support/QuickMemoryServer")
PLIST_PLACE = Path("Library/LaunchDaemons") / f"{LABEL}.plist"

EXIT_LIMIT_S = 120
RETRY_AFTER_S = 10

_TARGET = f"system/{LABEL}"
_IN_PROGRESS = 36
"""The exit code of `launchctl bootout` while the process is still stopping."""

_WORLD_READABLE = 0o644
_UMASK = 0o077

_PID = re.compile(r"^[ \t]*pid = (\d+)", re.MULTILINE)
_EXIT_CODE = re.compile(r"^[ \t]*last exit code = (\d+)", re.MULTILINE)


class LaunchdManager:
    """The daemon of this machine; `top` is the root of the file system."""

    def __init__(
        self,
        *,
        top: Path = Path("/"),
        execute: Callable[[Sequence[str]], Ran] = run,
        is_root: Callable[[], bool] = is_root,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._plist = top / PLIST_PLACE
        self._execute = execute
        self._is_root = is_root
        self._environ = environ
        self._disk = Disk()
        self._is_stopping = False

    def status(self) -> ServiceStatus:
        """Return the daemon's status from launchd."""
        values = self._read()
        if values is None:
            return ServiceStatus(state=ServiceState.NOT_INSTALLED)
        root, account = values["WorkingDirectory"], values["UserName"]
        printed = self._execute(["launchctl", "print", _TARGET])
        if printed.exit_code:
            return ServiceStatus(state=ServiceState.STOPPED, root=root, account=account)
        pid, code = _number(_PID, printed.output), _number(_EXIT_CODE, printed.output)
        state = self._state(pid, code, Path(root))
        is_over = state in (ServiceState.STOPPED, ServiceState.FAILED)
        return ServiceStatus(
            state=state, pid=pid, exit_code=code if is_over else None, root=root, account=account
        )

    def register(self, spec: ServiceSpec) -> None:
        """Write the property list and create the root."""
        check_root(self._is_root)
        if self._read() is not None:
            raise ConflictError("the service is already installed")
        account = spec.account or self._environ.get("SUDO_USER", "")
        if not account:
            raise InvalidInputError("name the account that the service runs as: --account NAME")
        check_account(account)
        make_root(spec.root, account)
        self._disk.make_folder(self._plist.parent)
        self._disk.put(self._plist, plist_bytes(spec, account), mode=_WORLD_READABLE)
        self._execute(["launchctl", "enable", _TARGET])

    def unregister(self) -> None:
        """Remove the property list."""
        self._check_installed()
        self._bootout()
        self._disk.remove(self._plist)

    def begin_start(self) -> None:
        """Load the daemon, which starts it."""
        self._check_installed()
        if self.status().state in (ServiceState.RUNNING, ServiceState.STARTING):
            raise UnavailableError("the service is already running")
        self._bootout()
        self._is_stopping = False
        ran = self._execute(["launchctl", "bootstrap", "system", str(self._plist)])
        if ran.exit_code:
            raise UnavailableError(f"launchctl refused: {ran.errors.strip()}")

    def begin_stop(self) -> None:
        """Unload the daemon, which stops it with SIGTERM."""
        self._check_installed()
        self._is_stopping = True
        self._bootout()

    def _bootout(self) -> None:
        if self._execute(["launchctl", "print", _TARGET]).exit_code:
            return
        ran = self._execute(["launchctl", "bootout", _TARGET])
        if ran.exit_code not in (0, _IN_PROGRESS):
            raise UnavailableError(f"launchctl refused: {ran.errors.strip()}")

    def _state(self, pid: int | None, code: int | None, root: Path) -> ServiceState:
        if pid is None:
            return ServiceState.FAILED if code else ServiceState.STOPPED
        if self._is_stopping:
            return ServiceState.STOPPING
        # launchd only knows that there is a process. The root's lock says whether it serves.
        owner = read_owner(root / LOCK_PLACE)
        is_up = owner is not None and owner.pid == pid and bool(owner.url)
        return ServiceState.RUNNING if is_up else ServiceState.STARTING

    def _read(self) -> dict[str, Any] | None:
        try:
            values: dict[str, Any] = plistlib.loads(self._plist.read_bytes())
        except FileNotFoundError:
            return None
        return values

    def _check_installed(self) -> None:
        if not self._plist.exists():
            raise not_installed()
        check_root(self._is_root)


def plist_bytes(spec: ServiceSpec, account: str) -> bytes:
    """Return the property list of a service."""
    root = str(spec.root)
    return plistlib.dumps(
        {
            "Label": LABEL,
            "ProgramArguments": [*spec.executable, "serve", "--root", root],
            "UserName": account,
            "WorkingDirectory": root,
            "RunAtLoad": True,
            # Exit code 0 is a requested stop.
            "KeepAlive": {"SuccessfulExit": False},
            "ThrottleInterval": RETRY_AFTER_S,
            "ExitTimeOut": EXIT_LIMIT_S,
            "ProcessType": "Standard",
            "Umask": _UMASK,
            "SoftResourceLimits": {"NumberOfFiles": 65536},
        },
        sort_keys=False,
    )


def _number(pattern: re.Pattern[str], text: str) -> int | None:
    found = pattern.search(text)
    return int(found[1]) if found else None
