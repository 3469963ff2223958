"""What hostile code would try inside a worker on Windows; each sends `done`, or what stopped it."""

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from qms.sandbox.child import Channel

_QUERY = 0x8
_PRIVILEGES, _INTEGRITY_LEVEL = 3, 25
_ENABLED = 0x2


def _spawn(told: str) -> str:
    subprocess.run([sys.executable, "-I", "-c", "pass"], check=True)
    return "done"


def _write(told: str) -> str:
    Path(told).write_bytes(b"x")
    return "done"


def _gigabyte(told: str) -> str:
    bytearray(1 << 30)
    return "done"


def _environment(told: str) -> str:
    return ",".join(sorted(os.environ))


def _privileges(told: str) -> str:
    """Return how many privileges are enabled."""
    data = _token_information(_PRIVILEGES)
    count = int.from_bytes(data[:4], "little")
    # A privilege is a LUID of eight bytes and four bytes of attributes.
    found = (data[4 + 12 * one + 8 : 4 + 12 * one + 12] for one in range(count))
    return str(sum(bool(int.from_bytes(one, "little") & _ENABLED) for one in found))


def _integrity(told: str) -> str:
    """Return the number of the integrity level: 0 is untrusted, 8192 medium."""
    data = _token_information(_INTEGRITY_LEVEL)
    return str(int.from_bytes(data[-4:], "little"))


def _token_information(kind: int) -> bytes:
    kernel: Any = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined]  # of Windows
    security: Any = ctypes.WinDLL("advapi32")  # type: ignore[attr-defined]  # of Windows
    kernel.GetCurrentProcess.restype = ctypes.c_void_p
    token, length = ctypes.c_void_p(), ctypes.c_ulong()
    own = ctypes.c_void_p(kernel.GetCurrentProcess())
    assert security.OpenProcessToken(own, _QUERY, ctypes.byref(token))
    security.GetTokenInformation(token, kind, None, 0, ctypes.byref(length))
    data = ctypes.create_string_buffer(length.value)
    assert security.GetTokenInformation(token, kind, data, length, ctypes.byref(length))
    return data.raw[: length.value]


_PROBES: dict[str, Callable[[str], str]] = {
    "spawn": _spawn,
    "write": _write,
    "gigabyte": _gigabyte,
    "environment": _environment,
    "privileges": _privileges,
    "integrity": _integrity,
}


def probe(channel: Channel) -> None:
    """Try what the message names, and send the outcome."""
    name, _, told = channel.receive().decode().partition("|")
    try:
        found = _PROBES[name](told)
    except (OSError, MemoryError, AssertionError) as error:
        found = f"{type(error).__name__}: {error}"
    channel.send(found.encode())
