"""What is known of keys beyond the configuration: when each was last used, and when it ended.

A note of convenience in `.qms/keys.json`: losing it costs nothing but these dates.
"""

import logging
from datetime import datetime
from pathlib import Path

import msgspec

from qms.fsio.disk import Disk

log = logging.getLogger(__name__)


class KeyUse(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One key that is or was in the configuration."""

    user: str
    sha256: str
    last_used_utc: datetime | None = None
    ended_utc: datetime | None = None
    """When it was found to be gone from the configuration; None while it is there."""


_decoder = msgspec.json.Decoder(dict[str, KeyUse])


def read_key_uses(path: Path) -> dict[str, KeyUse]:
    """Return what was saved, by the ids of the keys; nothing when it cannot be read."""
    try:
        return _decoder.decode(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.DecodeError):
        log.warning("uses of keys are unreadable and begin anew", extra={"file": path.name})
        return {}


def write_key_uses(path: Path, uses: dict[str, KeyUse], disk: Disk) -> None:
    """Save what is known.

    Raises:
        OSError: it is not saved; what was there before still is.
    """
    disk.make_folder(path.parent)
    disk.put(path, msgspec.json.encode(uses) + b"\n", mode=0o600)
