"""Reads and writes `.qms/keys.json`: when each key was last used, and when it was removed.

The file is informative only: losing it loses these dates and nothing else.
"""

import logging
from datetime import datetime
from pathlib import Path

import msgspec

from qms.disk.damage import set_aside
from qms.disk.disk import Disk
from qms.disk.regular_files import read_regular
from qms.memory.errors import UNDECODABLE

log = logging.getLogger(__name__)


class KeyUse(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One key that is or was in the configuration."""

    user: str
    sha256: str
    last_used_utc: datetime | None = None
    ended_utc: datetime | None = None
    """When it was found missing from the configuration; None while it is there."""


_decoder = msgspec.json.Decoder(dict[str, KeyUse])


def read_key_uses(path: Path, disk: Disk) -> dict[str, KeyUse]:
    """Return the saved uses by key id; empty when the file cannot be read."""
    try:
        return _decoder.decode(read_regular(path))
    except FileNotFoundError:
        return {}
    except OSError as error:
        log.warning("key uses not read", extra={"reason": error.strerror})
        return {}
    except UNDECODABLE as error:
        set_aside(disk, path, error)
        return {}


def write_key_uses(path: Path, uses: dict[str, KeyUse], disk: Disk) -> None:
    """Save the uses.

    Raises:
        OSError: they are not saved; the file is as before.
    """
    disk.make_folder(path.parent)
    disk.put(path, msgspec.json.encode(uses) + b"\n")
