"""Files that ship with the program: in the wheel's `_data` folder, or at the top of a checkout."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent

TEMPLATE_NAME = "QuickMemoryServer.toml"
"""The commented configuration that a new root is seeded from."""


def find_resource(name: str, *, package: Path = _PACKAGE) -> Path:
    """Return where the shipped file or folder called `name` is.

    Raises:
        FileNotFoundError: neither the wheel nor the checkout has it.
    """
    for candidate in (package / "_data" / name, package.parent / name):
        if candidate.exists():
            return candidate
    raise FileNotFoundError(f"{name} is missing from this installation: install it again")
