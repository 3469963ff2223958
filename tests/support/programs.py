"""The programs beyond Python packages that tests use, and whether they work on this machine.

A program may be there and still be of no use: a container can forbid tracing, mounting or file
attributes. So each one that can be forbidden is tried once.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from tools.toolbox import ON_REQUEST, TOOLS, command_of

DEBIAN_PACKAGES = {
    "bash": "bash",
    "chattr": "e2fsprogs",
    "chromium": "chromium",
    "curl": "curl",
    "debootstrap": "debootstrap",
    "faketime": "faketime",
    "git": "git",
    "makensis": "nsis",
    "man": "man-db",
    "mount": "mount",
    "osslsigncode": "osslsigncode",
    "promtool": "prometheus",
    "strace": "strace",
    "systemd-analyze": "systemd",
    "unshare": "util-linux",
    "wine": "wine",
    "x86_64-w64-mingw32-gcc": "gcc-mingw-w64-x86-64-win32",
}
"""Each program that a test may ask for with `needs`, and the package that brings it.

What `tools/toolbox.py` installs can be asked for by the name that it has there.
"""


def is_ci(environment: Mapping[str, str]) -> bool:
    """Say whether this run is one in which nothing may be missing."""
    return environment.get("CI", "").lower() not in ("", "0", "false")


def require(program: str, *, in_ci: bool) -> None:
    """Return when the program works here; else skip the test, or fail it in CI."""
    reason = why_missing(program)
    if reason is None:
        return
    if in_ci:
        pytest.fail(f"{reason}; in CI nothing may be missing", pytrace=False)
    pytest.skip(reason)


@cache
def why_missing(program: str) -> str | None:
    """Return what is wrong with the program on this machine, or None when it works."""
    if program in TOOLS | ON_REQUEST:
        missing = f"{program} is missing (python tools/toolbox.py {program})"
        return missing if command_of(program) is None else None
    if shutil.which(program) is None:
        package = DEBIAN_PACKAGES.get(program, program)
        return f"{program} is missing (Debian package {package})"
    with tempfile.TemporaryDirectory() as folder:
        if not _works(program, Path(folder)):
            return f"{program} is there but not permitted here"
    return None


def _works(program: str, folder: Path) -> bool:
    target = folder / "target"
    match program:
        case "strace":
            return _succeeds("strace", "-o", str(target), "true")
        case "faketime":
            return _succeeds("faketime", "2030-01-01 00:00:00", "true")
        case "chattr":
            target.touch()
            return _succeeds("chattr", "+i", str(target)) and _succeeds("chattr", "-i", str(target))
        case "unshare":
            return _succeeds("unshare", "-n", "true")
        case "mount":
            target.mkdir()
            mounted = _succeeds("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(target))
            return mounted and _succeeds("umount", str(target))
        case _:
            return True


def _succeeds(*command: str) -> bool:
    return subprocess.run(command, capture_output=True, check=False, timeout=30).returncode == 0
