"""Folders that nobody can write into, not even root."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Make everything below a folder read-only by a bind mount on itself."""
    subprocess.run(["mount", "--bind", str(folder), str(folder)], check=True, timeout=30)
    try:
        remount = ["mount", "-o", "remount,ro,bind", str(folder)]
        subprocess.run(remount, check=True, timeout=30)
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True, timeout=30)
