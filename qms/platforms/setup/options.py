"""Checks the command-line options of the setup program before anything is changed."""

from pathlib import Path

from qms.disk.disk import Disk
from qms.memory.errors import invalid

KEY_NAME = "QuickMemoryServer admin key.txt"
_LAST_PORT = 65535


def bare(text: str) -> str:
    """Return an option without the space that the setup program appends.

    A folder may end in a backslash, which would escape the quote that follows.
    """
    return text.strip()


def port_of(text: str) -> int | None:
    """Return the port to listen on, or None if the option is empty.

    Raises:
        InvalidInputError: it is not a valid port.
    """
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and 0 < int(text) <= _LAST_PORT):
        raise invalid("/PORT", f"{text} is not a port from 1 to {_LAST_PORT}")
    return int(text)


def key_place(text: str, home: Path) -> Path:
    """Return the file to write the admin key to."""
    return Path(text).absolute() if text else home / KEY_NAME


def check_key_place(place: Path, disk: Disk) -> None:
    """Create the folder of the key file, since a key that cannot be written is lost.

    Raises:
        InvalidInputError: the file cannot be written.
    """
    try:
        disk.make_folder(place.parent)
    except OSError as error:
        raise invalid("/KEYFILE", f"{place.parent} cannot be created: {error.strerror}") from error
    if place.is_dir():
        raise invalid("/KEYFILE", f"{place} is a folder: name a file")
