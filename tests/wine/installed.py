"""An installation on the Windows machine, as its user and its administrator see it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.support.waiting import eventually
from tests.wine.machine import WINE_BOUND_S, Ended, WindowsMachine, windows_path
from tests.wine.payloads import Payload

LOG_LINES = 40

_KEY = "Software\\Microsoft\\Windows\\CurrentVersion\\Uninstall\\QuickMemoryServer"


class Installed:
    """The program in one folder, its data there or in another."""

    def __init__(self, machine: WindowsMachine, name: str, data: str = "") -> None:
        self._machine = machine
        self.place = f"C:\\{name}"
        self.folder = machine.drive / name
        self.data = machine.drive / data if data else self.folder
        self._data_option = f'/DATA="C:\\{data}"' if data else ""
        self._key_place = f"C:\\key of {name}.txt"

    @property
    def key(self) -> str:
        """Return the key that was handed to the installing user."""
        path = self._machine.drive / self._key_place.removeprefix("C:\\")
        return path.read_text(encoding="ascii").strip()

    @property
    def entries(self) -> Path:
        """Return the file of the project `default` that people edit."""
        return self.data / "MemoryStores" / "default" / "entries.jsonl"

    def set_up(self, payload: Payload, port: int, *, code: int = 0) -> None:
        """Run a setup program in silence; if it ends with another code, say how far it came."""
        options = f'/S /PORT={port} /KEYFILE="{self._key_place}" {self._data_option}'
        # The last option has no quotes, also with spaces in it: so NSIS wants it.
        line = f'"{windows_path(payload.setup)}" {options} /D={self.place}'
        ended = self._machine.run_line(line)
        assert ended.code == code, "\n".join(
            (str(ended), f"service: {self.state()}", *self._logs())
        )

    def uninstall(self, *options: str) -> None:
        """Run the uninstaller, which goes on in a copy of itself, and wait for its end."""
        ended = self._machine.run(f"{self.place}\\uninstall.exe", "/S", *options)
        assert ended.code == 0, ended
        eventually(lambda: not (self.folder / "uninstall.exe").exists(), bound_s=WINE_BOUND_S)
        eventually(lambda: not self.is_listed(), bound_s=WINE_BOUND_S)

    def is_listed(self) -> bool:
        """Say whether Windows lists the program among those that can be uninstalled."""
        return self._machine.run("reg.exe", "query", f"HKLM\\{_KEY}").code == 0

    def service(self, verb: str) -> Ended:
        """Do something with the service, as an administrator does."""
        return self._machine.run(f"{self.place}\\QuickMemoryServer.exe", "service", verb)

    def register_by_hand(self) -> Ended:
        """Register and start the service as with any program of Windows."""
        program = f"{self.place}\\QuickMemoryServer.exe"
        create = ("create", "QuickMemoryServer", "binPath=", program, "start=", "auto")
        made = self._machine.run("sc.exe", *create)
        return self._machine.run("sc.exe", "start", "QuickMemoryServer") if not made.code else made

    def state(self) -> str:
        """Return what Windows itself says of the service."""
        shown = self._machine.run("sc.exe", "query", "QuickMemoryServer").output
        lines = [line.split() for line in shown.splitlines() if " STATE " in line]
        return lines[0][-1] if lines else "none"

    def verify(self) -> dict[str, Any]:
        """Return what `memoryctl verify-install` finds."""
        program = f"{self.place}\\tools\\memoryctl.exe"
        answer: dict[str, Any] = json.loads(
            self._machine.run(program, "verify-install", "--json").output
        )
        return answer

    def _logs(self) -> Iterator[str]:
        """Yield the end of each log, the settings of none."""
        for path in sorted((self.data / "logs").glob("*.log")):
            lines = path.read_text(encoding="utf-8").splitlines()
            yield "\n".join((f"-- {path.name}", *lines[-LOG_LINES:]))
