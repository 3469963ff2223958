"""A Windows machine for tests: wine with a folder of its own, and one process that takes orders."""

import json
import os
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path, PureWindowsPath

import msgspec

HERE = Path(__file__).resolve().parent
LIMIT_S = 900.0
"""How long a program may take: a repair takes a minute alone, and was once not done after seven."""

WINE_BOUND_S = 120.0
"""How long a test waits for something on this machine, where everything takes longer."""

_BOOT_LIMIT_S = 180.0
_QUIET = {
    "WINEARCH": "win64",
    "WINEDEBUG": "-all",
    "WINEDLLOVERRIDES": "mscoree,mshtml=d",
}

_PATIENCE = (
    "HKLM\\System\\CurrentControlSet\\Control",
    *("/v", "ServicesPipeTimeout", "/t", "REG_SZ", "/d", "120000", "/f"),
)
"""Wine gives a service 10 seconds to say its first word, Windows 30; a busy machine needs more."""


class Ended(msgspec.Struct, frozen=True):
    """How a Windows program ended, and what it printed."""

    code: int
    output: str


def windows_path(path: Path) -> str:
    """Return a file of this machine as Windows programs name it."""
    return str(PureWindowsPath("Z:/", *path.parts[1:]))


class WindowsMachine:
    """Boots when made; `close` ends all of its processes, and only those."""

    def __init__(self, prefix: Path, python: Path) -> None:
        self.drive = prefix / "drive_c"
        self.python = windows_path(python)
        self._environment = {**os.environ, **_QUIET, "WINEPREFIX": str(prefix)}
        self._environment.pop("DISPLAY", None)
        self._linux("wineboot", "-i")
        self._linux("wine", "reg.exe", "add", *_PATIENCE)
        self._linux("wineserver", "-w")
        self._driver, self._connection = self._started()
        self._answers = self._connection.makefile("r", encoding="utf-8")

    def run(self, *command: str, **environment: str) -> Ended:
        """Run a Windows program to its end."""
        return self._ordered(list(command), environment)

    def run_line(self, line: str) -> Ended:
        """Run a command line as it stands, for a program with quotes of its own."""
        return self._ordered(line, {})

    def _ordered(self, command: list[str] | str, environment: dict[str, str]) -> Ended:
        order = json.dumps({"command": command, "environment": environment, "timeout_s": LIMIT_S})
        self._connection.sendall(order.encode() + b"\n")
        return msgspec.json.decode(self._answers.readline(), type=Ended)

    def make_share(self, host: str, name: str) -> str:
        """Return the UNC path of a new folder that is reached as a share."""
        place, folder = self.drive.parent / "dosdevices" / "unc" / host, self.drive / name
        place.mkdir(parents=True)
        folder.mkdir()
        (place / name).symlink_to(folder)
        return f"\\\\{host}\\{name}"

    def pytest(self, packages: Path, *arguments: str, **environment: str) -> Ended:
        """Run tests with the Windows Python: the product as installed, the tests from here."""
        folder = HERE.parent.parent
        code = (
            "import sys; sys.path.insert(0, sys.argv.pop(1)); sys.path.append(sys.argv.pop(1));"
            " import pytest; sys.exit(pytest.main(sys.argv[1:]))"
        )
        # The command line of the configuration is for Linux: parallel, with plugins of its own.
        plain = ("-q", "-p", "no:cacheprovider", "-o", "addopts=", "-o", "filterwarnings=")
        root = ("--rootdir", windows_path(folder), "--color", "no", "--tb", "short")
        places = (windows_path(packages), windows_path(folder))
        command = (self.python, "-B", "-c", code, *places, *plain, *root, *arguments)
        return self.run(*command, **environment)

    def close(self) -> None:
        """Hang up, and end whatever still runs in this prefix."""
        self._answers.close()
        self._connection.close()
        self._linux("wineserver", "-k", check=False)
        self._driver.communicate(timeout=_BOOT_LIMIT_S)

    def _started(self) -> tuple[subprocess.Popen[bytes], socket.socket]:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.settimeout(_BOOT_LIMIT_S)
            port = listener.getsockname()[1]
            command = ["wine", self.python, "-B", windows_path(HERE / "driver.py"), str(port)]
            # Windows programs want a pipe for their output.
            driver = subprocess.Popen(
                command,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
            try:
                return driver, listener.accept()[0]
            except TimeoutError:
                driver.kill()
                raise AssertionError(driver.communicate()[0]) from None

    def _linux(self, *command: str, check: bool = True) -> None:
        _run(command, self._environment, check=check)


def _run(command: Sequence[str], environment: dict[str, str], *, check: bool) -> None:
    subprocess.run(
        command,
        env=environment,
        check=check,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=_BOOT_LIMIT_S,
    )
