"""Build the bundle for Claude Desktop: the wheel of this server and what starts it, as one file."""

import argparse
import subprocess
import zipfile
from pathlib import Path

from qms.version import __version__

SOURCES = Path(__file__).parent / "clients" / "mcpb"
REPOSITORY = Path(__file__).parent.parent
PYPROJECT = "pyproject.toml"
WHEEL_MARK = "@wheel@"

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every file in the bundle, so that the same sources give the same bytes."""


def build_wheel(folder: Path) -> Path:
    """Build the wheel of this server into a folder and return its path.

    Raises:
        subprocess.CalledProcessError: it cannot be built.
    """
    command = ["uv", "build", "-q", "--wheel", "--out-dir", str(folder), str(REPOSITORY)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    [wheel] = folder.glob("*.whl")
    return wheel


def write_bundle(wheel: Path, target: Path) -> None:
    """Write the bundle around a wheel."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as bundle:
        for path in sorted(SOURCES.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                name, data = path.relative_to(SOURCES).as_posix(), path.read_bytes()
                if name == PYPROJECT:
                    data = data.replace(WHEEL_MARK.encode(), wheel.name.encode())
                _add(bundle, name, data)
        _add(bundle, wheel.name, wheel.read_bytes())


def _add(bundle: zipfile.ZipFile, name: str, data: bytes) -> None:
    about = zipfile.ZipInfo(name, _EPOCH)
    about.compress_type = zipfile.ZIP_DEFLATED
    about.external_attr = 0o644 << 16
    bundle.writestr(about, data)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("dist"))
    folder = parser.parse_args().out
    target = folder / f"quick-memory-server-{__version__}.mcpb"
    write_bundle(build_wheel(folder), target)
    print(target)


if __name__ == "__main__":
    main()
