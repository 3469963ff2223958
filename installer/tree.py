"""Builds the tree that the setup program installs: everything but the data."""

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import msgspec

from installer import embedded, launchers, wheels
from installer.embedded import BuildError
from qms.config.install_layout import describe, write_layout
from qms.memory.json_schema import entry_schema

PROJECT = Path(__file__).resolve().parent.parent
OBJDUMP = "x86_64-w64-mingw32-objdump"

_SITE_PACKAGES = Path("python", "Lib", "site-packages")
_PAGES = ("README.md", "CHANGELOG.md", "LICENSE", "ARCHITECTURE.md")
_LIBRARIES = frozenset({".dll", ".exe", ".pyd"})
_PARTS_OF_WINDOWS = ("api-ms-win-", "ext-ms-")
"""API sets that Windows maps to its own libraries."""


class Ingredients(msgspec.Struct, frozen=True, kw_only=True):
    """The wheels that a tree is built from."""

    python: Path
    runtime: Path
    product: Path
    packages: tuple[Path, ...]

    @property
    def all(self) -> tuple[Path, ...]:
        """Return all wheels."""
        return (self.python, self.runtime, self.product, *self.packages)


def stage(ingredients: Ingredients, root: Path, version: str, scratch: Path) -> None:
    """Build the tree in `root`, with its `layout.json`.

    The same wheels and sources give the same bytes.
    """
    embedded.stage(ingredients.python, ingredients.runtime, root / "python")
    site_packages = root / _SITE_PACKAGES
    wheels.install([ingredients.product, *ingredients.packages], site_packages)
    # The wheel contains the models for installations with pip; here they get their own folder.
    shutil.move(site_packages / "qms" / "_data" / "models", root / "models")
    for launcher in launchers.LAUNCHERS:
        launchers.build(launcher, root, version, scratch)
    _write_docs(root / "docs", wheels.listing(ingredients.all))
    check_libraries(root)
    write_layout(root, describe(root, version))


def _write_docs(folder: Path, wheel_listing: str) -> None:
    (folder / "docs").mkdir(parents=True)
    for name in _PAGES:
        shutil.copyfile(PROJECT / name, folder / name)
    for page in sorted((PROJECT / "docs").glob("*.md")):
        shutil.copyfile(page, folder / "docs" / page.name)
    schema = msgspec.json.format(msgspec.json.encode(entry_schema()), indent=2)
    (folder / "schema.json").write_bytes(schema + b"\n")
    (folder / wheels.LISTING).write_text(wheel_listing, encoding="utf-8")


def check_libraries(root: Path) -> None:
    """Check that every library which the tree loads is in the tree or part of Windows.

    Raises:
        BuildError: a library would be missing on a fresh machine.
    """
    binaries = [path for path in sorted(root.rglob("*")) if path.suffix.lower() in _LIBRARIES]
    present = {path.name.lower() for path in binaries} | _of_windows()
    missing = {
        f"{needed} (for {path.name})"
        for path in binaries
        for needed in _needed_by(path)
        if needed not in present and not needed.startswith(_PARTS_OF_WINDOWS)
    }
    if missing:
        raise BuildError(f"missing on a fresh Windows: {', '.join(sorted(missing))}")


def _needed_by(path: Path) -> Iterable[str]:
    command = [OBJDUMP, "-p", str(path)]
    shown = subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8")
    for line in shown.stdout.splitlines():
        name, colon, library = line.strip().partition(": ")
        if colon and name == "DLL Name":
            yield library.lower()


def _of_windows() -> frozenset[str]:
    names = (PROJECT / "installer" / "windows-libraries.txt").read_text(encoding="ascii")
    return frozenset(names.split())
