"""Builds the setup program for Windows, on Linux: `uv run --group dev python -m installer.build`.

`dist/windows` gets the setup program, the tree that it installs, and the hash of every wheel.
With `--wheels DIR` nothing is resolved or downloaded: the wheels there are used as they are.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import click

from installer import embedded, script, tree, wheels
from installer.embedded import BuildError
from installer.tree import PROJECT, Ingredients
from qms.version import __version__

TARGET = PROJECT / "dist" / "windows"
SETUP_NAME = "QuickMemoryServer-setup.exe"
"""Not `setup.exe`: for that name Windows loads libraries from the program's own folder."""

LARGEST_BYTES = 130_000_000
PROGRAMS = ("uv", "makensis", "x86_64-w64-mingw32-gcc", "x86_64-w64-mingw32-windres")


@click.command()
@click.option("--out", metavar="DIR", type=click.Path(path_type=Path), default=TARGET)
@click.option("--wheels", "given", metavar="DIR", type=click.Path(path_type=Path, exists=True))
def main(out: Path, given: Path | None) -> None:
    """Build the setup program."""
    try:
        setup = build(out, given)
    except (BuildError, subprocess.CalledProcessError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    print((out / wheels.LISTING).read_text(encoding="utf-8"), end="")
    print(f"{setup}: {setup.stat().st_size:,} bytes, sha256 {wheels.sha256(setup)}")


def build(out: Path, given: Path | None = None) -> Path:
    """Return the setup program, built below `out`.

    Raises:
        BuildError: the build cannot go on; the message says what to do.
        CalledProcessError: a program of the build failed and has printed the reason.
    """
    for program in PROGRAMS:
        if shutil.which(program) is None:
            raise BuildError(f"{program} is missing: installer/README.md says how to install it")
    out.mkdir(parents=True, exist_ok=True)
    folder = given or download_all(out / "wheels")
    root = out / "tree"
    shutil.rmtree(root, ignore_errors=True)
    with tempfile.TemporaryDirectory() as scratch:
        parts = ingredients(folder, Path(scratch))
        tree.stage(parts, root, __version__, Path(scratch))
        listing = wheels.listing(parts.all)
        (out / wheels.LISTING).write_text(listing, encoding="utf-8")
        setup = script.make_setup(root, out / SETUP_NAME, __version__, Path(scratch))
    if setup.stat().st_size > LARGEST_BYTES:
        raise BuildError(f"{setup} is larger than {LARGEST_BYTES:,} bytes: remove something")
    return setup


def download_all(folder: Path) -> Path:
    """Resolve and download every wheel that is needed; return the folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    wheels.download(wheels.resolve(PROJECT / "pyproject.toml", folder / "requirements.txt"), folder)
    wheels.download_checked(embedded.PACKAGE, embedded.PACKAGE_SHA256, folder)
    wheels.download_checked(embedded.RUNTIME, embedded.RUNTIME_SHA256, folder)
    return folder


def ingredients(folder: Path, scratch: Path) -> Ingredients:
    """Return the wheels of a folder by their part, with a new build of the product's own."""
    special = {embedded.PACKAGE_SHA256: "python", embedded.RUNTIME_SHA256: "runtime"}
    found: dict[str, Path] = {}
    packages = []
    for wheel in sorted(folder.glob("*.whl")):
        part = special.get(wheels.sha256(wheel))
        if part:
            found[part] = wheel
        else:
            packages.append(wheel)
    if len(found) < len(special):
        raise BuildError(f"{folder} lacks the wheel of {embedded.PACKAGE} or {embedded.RUNTIME}")
    product = wheels.build_product(PROJECT, scratch)
    return Ingredients(**found, product=product, packages=tuple(packages))


if __name__ == "__main__":
    main()
