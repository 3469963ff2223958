"""Writes the admin key for the installing user, and the result for the last page of setup."""

import getpass
import logging
from collections.abc import Callable
from pathlib import Path

from qms.disk.disk import Disk

log = logging.getLogger(__name__)


def hand_over(key: str, place: Path, disk: Disk, keep_private: Callable[[Path, str], None]) -> None:
    """Write the key to a file that only the installing user can read; there is no other copy."""
    disk.put(place, b"")
    keep_private(place, getpass.getuser())
    disk.append(place, f"{key}\r\n".encode())
    log.info("admin key written", extra={"file": str(place)})


def result(url: str, key_file: Path | None) -> bytes:
    """Return the INI file that the last page of the setup program reads.

    UTF-16 with a byte order mark: otherwise Windows reads it in the machine's code page, which may
    lack characters of a user's folder.
    """
    values = {"url": url, "keyFile": str(key_file) if key_file else ""}
    lines = ["[result]", *(f"{name}={value}" for name, value in values.items()), ""]
    return "\r\n".join(lines).encode("utf-16")
