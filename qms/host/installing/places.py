"""Which folders an installation may use: its own ones, since a removal takes what they hold."""

from pathlib import Path

from qms.domain.errors import ConflictError, invalid
from qms.files.layout import MADE_THERE, SETTINGS, WRITABLE
from qms.resources import LAYOUT_NAME

NEW = ".new"
OLD = ".old"
PROGRAM = "QuickMemoryServer.exe"

_TRACES = (LAYOUT_NAME, PROGRAM, SETTINGS)
"""Whatever else is beside one of them: the folder is ours already."""

_OURS = frozenset({NEW, OLD, *MADE_THERE, *WRITABLE})


def check_own(folder: Path, option: str) -> None:
    """Make sure that a folder is ours, empty or not there yet.

    Raises:
        InvalidInputError: it holds something else.
    """
    if not folder.exists() or any((folder / name).exists() for name in _TRACES):
        return
    others = sorted(path.name for path in folder.iterdir() if path.name not in _OURS)
    if others:
        raise invalid(option, f"{folder} holds other things ({others[0]}): name an empty folder")


def check_single(folder: Path, listed: str) -> None:
    """Make sure that Windows lists no installation in another folder than this one.

    Raises:
        ConflictError: it does.
    """
    if listed and Path(listed) != folder and (Path(listed) / LAYOUT_NAME).exists():
        error = ConflictError(f"the program is installed in {listed}: there can be only one")
        error.add_note("leave /D= out to upgrade it, or uninstall it first; its data stays")
        raise error
