"""Builds the setup program from the tree and `setup.nsi` with NSIS."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

HERE = Path(__file__).resolve().parent
Compression = Literal["lzma", "none"]

_MADE_AT = "315532800"
"""1980-01-01, so that the same tree gives the same program."""


def make_setup(
    root: Path, target: Path, version: str, scratch: Path, compression: Compression = "lzma"
) -> Path:
    """Return the setup program that installs the tree in `root`."""
    listing = scratch / "files.nsh"
    listing.write_text("".join(commands(root)), encoding="utf-8")
    defines = {
        "VERSION": version,
        "VERSION_NUMBERS": ".".join([*version.split(".")[:3], "0"]),
        "FILES": str(listing),
        "TARGET": str(target),
        "COMPRESSION": compression,
        "SIZE_KB": str(sum(path.stat().st_size for path in _files(root)) // 1024),
    }
    options = [f"-D{name}={value}" for name, value in defines.items()]
    subprocess.run(
        ["makensis", "-V2", "-WX", "-INPUTCHARSET", "UTF8", *options, str(HERE / "setup.nsi")],
        check=True,
        stdin=subprocess.DEVNULL,
        env=os.environ | {"SOURCE_DATE_EPOCH": _MADE_AT},
    )
    return target


def _files(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.is_file())


def commands(root: Path) -> Iterator[str]:
    """Yield the NSIS commands that unpack each file, in a fixed order."""
    folder = None
    for path in _files(root):
        if path.parent != folder:
            folder = path.parent
            below = str(folder.relative_to(root)).replace("/", "\\")
            place = "$INSTDIR\\.new" if below == "." else f"$INSTDIR\\.new\\{below}"
            yield f'SetOutPath "{place}"\n'
        yield f'File "{path}"\n'
