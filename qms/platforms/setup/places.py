"""Checks that an installation uses only its own folders, since an uninstall deletes them."""

from pathlib import Path

from qms.config.install_layout import MADE_THERE, SETTINGS, WRITABLE
from qms.memory.errors import ConflictError, invalid
from qms.resources import LAYOUT_NAME

NEW = ".new"
OLD = ".old"
PROGRAM = "QuickMemoryServer.exe"

_TRACES = (LAYOUT_NAME, PROGRAM, SETTINGS)
"""A folder that contains one of them is ours."""

_OURS = frozenset({NEW, OLD, *MADE_THERE, *WRITABLE})


def check_own(folder: Path, option: str) -> None:
    """Check that a folder is ours, empty or missing.

    Raises:
        InvalidInputError: it holds other files.
    """
    if not folder.exists() or any((folder / name).exists() for name in _TRACES):
        return
    others = sorted(path.name for path in folder.iterdir() if path.name not in _OURS)
    if others:
        raise invalid(option, f"{folder} holds other things ({others[0]}): name an empty folder")


def check_single(folder: Path, listed: str) -> None:
    """Check that Windows lists no installation in another folder.

    Raises:
        ConflictError: it lists one.
    """
    if listed and Path(listed) != folder and (Path(listed) / LAYOUT_NAME).exists():
        error = ConflictError(f"the program is installed in {listed}: there can be only one")
        error.add_note("leave /D= out to upgrade it, or uninstall it first; its data stays")
        raise error
