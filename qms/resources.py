"""Finds files that ship with the program: in the wheel's `_data`, a checkout or an installation."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent

TEMPLATE_NAME = "QuickMemoryServer.toml"
"""The commented configuration that a new root is seeded from."""

LAYOUT_NAME = "layout.json"
"""The file that an installer writes at the top of an installation."""


def installation_folder(*, package: Path = _PACKAGE) -> Path | None:
    """Return the folder where an installer put this program and its own Python, or None."""
    # python/Lib/site-packages/qms
    folder = package.parents[min(3, len(package.parents) - 1)]
    return folder if (folder / LAYOUT_NAME).is_file() else None


def find_resource(name: str, *, package: Path = _PACKAGE) -> Path:
    """Return the path of the shipped file or folder called `name`.

    Raises:
        FileNotFoundError: neither the wheel nor the checkout nor the installation has it.
    """
    for folder in (package / "_data", package.parent, installation_folder(package=package)):
        if folder is not None and (folder / name).exists():
            return folder / name
    raise FileNotFoundError(f"{name} is missing from this installation: install it again")
