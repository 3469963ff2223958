"""Stands in for launchd: it starts what the property list says, really, and keeps it alive never.

`launchctl print` answers in the form of macOS 13 and later, as far as the controller reads it.
"""

import os
import plistlib
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from qms.platforms.launchd import PLIST_PLACE
from qms.platforms.system_command import Ran

BOUND_S = 60.0
NOT_FOUND = 113


class StandInLaunchd:
    """Answers `launchctl` for one daemon below `top`."""

    def __init__(self, top: Path) -> None:
        self._plist = top / PLIST_PLACE
        self._process: subprocess.Popen[bytes] | None = None

    def __call__(self, command: Sequence[str]) -> Ran:
        program, verb, *rest = command
        assert program == "launchctl"
        match verb:
            case "print":
                return self._printed()
            case "bootstrap":
                assert rest == ["system", str(self._plist)]
                return self._bootstrap()
            case "bootout":
                self.close()
            case _:
                assert verb == "enable", command
        return Ran(0)

    def close(self) -> None:
        """End what runs, as a daemon that is unloaded is ended."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(BOUND_S)
        self._process = None

    def _bootstrap(self) -> Ran:
        if self._process is not None:
            return Ran(5, errors="Bootstrap failed: 5: Input/output error\n")
        values: dict[str, Any] = plistlib.loads(self._plist.read_bytes())
        assert values["RunAtLoad"] is True
        self._process = subprocess.Popen(
            values["ProgramArguments"],
            cwd=values["WorkingDirectory"],
            env=os.environ | {"XPC_SERVICE_NAME": values["Label"]},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return Ran(0)

    def _printed(self) -> Ran:
        if self._process is None:
            return Ran(NOT_FOUND, errors="Could not find service\n")
        code = self._process.poll()
        if code is None:
            lines = [
                "state = running",
                f"pid = {self._process.pid}",
                "last exit code = (never exited)",
            ]
        else:
            lines = ["state = not running", f"last exit code = {code}"]
        body = "".join(f"\t{line}\n" for line in lines)
        return Ran(0, f"system/quick-memory-server = {{\n{body}}}\n")
