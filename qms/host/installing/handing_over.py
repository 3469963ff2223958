"""What an installation leaves for people: the admin key, and what the last page offers."""

import getpass
import logging
from collections.abc import Callable
from pathlib import Path

from qms.fsio.disk import Disk

log = logging.getLogger(__name__)


def hand_over(key: str, place: Path, disk: Disk, keep_private: Callable[[Path, str], None]) -> None:
    """Put the key where the installing user alone finds it: it is nowhere else."""
    disk.put(place, b"")
    keep_private(place, getpass.getuser())
    disk.append(place, f"{key}\r\n".encode())
    log.info("admin key handed over", extra={"file": str(place)})


def result(url: str, key_file: Path | None) -> bytes:
    """Return what the last page of the setup program reads.

    Windows reads such a file in the code page of the machine, in which a user's folder may have
    no name, unless it begins with the mark of UTF-16.
    """
    values = {"url": url, "keyFile": str(key_file) if key_file else ""}
    lines = ["[result]", *(f"{name}={value}" for name, value in values.items()), ""]
    return "\r\n".join(lines).encode("utf-16")
