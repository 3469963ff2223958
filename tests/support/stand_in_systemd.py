"""Stands in for a systemd that runs the machine: it starts what the unit says, really.

Behind `systemctl` as the controller calls it are a unit file, a process and a notify socket, as
with systemd itself; users, cgroups and sandboxes are not.
"""

import configparser
import os
import socket
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

from qms.platforms.system_command import Ran
from qms.platforms.systemd import UNIT_PLACE

BOUND_S = 60.0


class StandInSystemd:
    """Answers `systemctl` and `systemd-sysusers` for one unit below `top`."""

    def __init__(self, top: Path) -> None:
        self._unit = top / UNIT_PLACE
        self._socket = top / "notify"
        self.is_loaded = False
        self.is_enabled = False
        self.made_accounts: list[str] = []
        self._process: subprocess.Popen[bytes] | None = None
        self._active = "inactive"

    def __call__(self, command: Sequence[str]) -> Ran:
        program, *rest = [word for word in command if word != "--no-pager"]
        if program == "systemd-sysusers":
            self.made_accounts.append(Path(rest[0]).read_text(encoding="utf-8"))
            return Ran(0)
        verb = rest[0]
        if verb == "daemon-reload":
            self.is_loaded = self._unit.exists()
        elif verb in ("enable", "disable"):
            self.is_enabled = verb == "enable"
        elif verb == "show":
            return Ran(0, self._shown())
        elif verb == "start":
            return self._start()
        elif verb == "stop":
            self._stop()
        else:
            assert verb == "reset-failed", command
            self._active = "inactive" if self._active == "failed" else self._active
        return Ran(0)

    def close(self) -> None:
        """End what still runs."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait(BOUND_S)

    def _settings(self) -> configparser.SectionProxy:
        unit = configparser.ConfigParser(interpolation=None, delimiters="=", strict=False)
        unit.optionxform = str  # type: ignore[assignment,method-assign]  # keep the case of names
        unit.read_string(self._unit.read_text(encoding="utf-8"))
        return unit["Service"]

    def _shown(self) -> str:
        if not self.is_loaded:
            return "LoadState=not-found\nActiveState=inactive\n"
        self._look()
        code = None if self._process is None else self._process.poll()
        values = {
            "LoadState": "loaded",
            "ActiveState": self._active,
            "SubState": "running" if self._active == "active" else "dead",
            "MainPID": self._process.pid if self._process and code is None else 0,
            "ExecMainCode": 0 if code is None else 1 if code >= 0 else 2,
            "ExecMainStatus": abs(code or 0),
            "Result": "success" if self._active != "failed" else "exit-code",
            "User": self._settings()["User"],
        }
        return "".join(f"{name}={value}\n" for name, value in values.items())

    def _look(self) -> None:
        if self._active == "active" and self._process and self._process.poll() is not None:
            self._active = "failed" if self._process.returncode else "inactive"

    def _start(self) -> Ran:
        service = self._settings()
        assert service["Type"] == "notify"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ears:
            self._socket.unlink(missing_ok=True)
            ears.bind(str(self._socket))
            self._process = subprocess.Popen(
                split_command(service["ExecStart"]),
                env=os.environ | {"NOTIFY_SOCKET": str(self._socket)},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            is_ready = self._wait_ready(ears, self._process)
        self._active = "active" if is_ready else "failed"
        return Ran(0 if is_ready else 1)

    def _wait_ready(self, ears: socket.socket, process: subprocess.Popen[bytes]) -> bool:
        """Read messages until one says ready; the end of the process is a message, too."""
        ears.settimeout(BOUND_S)

        def tell_of_end() -> None:
            process.wait()
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as mouth:
                try:
                    mouth.sendto(b"ENDED", str(self._socket))
                except OSError:
                    return  # nobody waits any more

        threading.Thread(target=tell_of_end, daemon=True).start()
        while (message := ears.recv(4096)) != b"ENDED":
            if b"READY=1" in message.split(b"\n"):
                return True
        return False

    def _stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            self._process.wait(BOUND_S)
        self._active = "inactive"


def split_command(text: str) -> list[str]:
    """Return the words of an `ExecStart`, as systemd.service(5) says they are written."""
    words: list[str] = []
    rest = text.strip()
    while rest:
        if rest.startswith('"'):
            word, rest = _quoted_word(rest)
        else:
            word, _, rest = rest.partition(" ")
        words.append(word.replace("$$", "$").replace("%%", "%"))
        rest = rest.lstrip()
    return words


def _quoted_word(text: str) -> tuple[str, str]:
    word, at = "", 1
    while text[at] != '"':
        at += text[at] == "\\"
        word += text[at]
        at += 1
    return word, text[at + 1 :]
