"""What the setup program was told on its command line, checked before anything is done."""

from pathlib import Path

from qms.domain.errors import invalid
from qms.fsio.disk import Disk

KEY_NAME = "QuickMemoryServer admin key.txt"
_LAST_PORT = 65535


def bare(text: str) -> str:
    """Return an option without the space that the setup program puts behind it.

    A folder may end in a backslash, which would take the meaning of the quote that follows.
    """
    return text.strip()


def port_of(text: str) -> int | None:
    """Return the port to listen on, None when nothing is said of it.

    Raises:
        InvalidInputError: it is none.
    """
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and 0 < int(text) <= _LAST_PORT):
        raise invalid("/PORT", f"{text} is not a port from 1 to {_LAST_PORT}")
    return int(text)


def key_place(text: str, home: Path) -> Path:
    """Return the file in which the admin key is handed over."""
    return Path(text).absolute() if text else home / KEY_NAME


def check_key_place(place: Path, disk: Disk) -> None:
    """Make the folder of the key's file: a key that cannot be handed over is lost.

    Raises:
        InvalidInputError: nothing can be written there.
    """
    try:
        disk.make_folder(place.parent)
    except OSError as error:
        raise invalid("/KEYFILE", f"{place.parent} cannot be made: {error.strerror}") from error
    if place.is_dir():
        raise invalid("/KEYFILE", f"{place} is a folder: name a file")
