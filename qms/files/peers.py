"""What a store remembers of the stores that it was synced with: `.qms/sync/`.

Losing it costs nothing but knowledge of what was common: the next sync is like the first one.
"""

import logging
import re
from pathlib import Path
from typing import TypeVar

import msgspec

from qms.domain.errors import invalid
from qms.fsio.disk import Disk

log = logging.getLogger(__name__)

_STORE_ID = re.compile(r"[0-9a-f]{32}")


class PeerBase(msgspec.Struct, frozen=True):
    """What two stores had in common after their last sync; the token is the same on both."""

    token: str
    versions: dict[str, str]


class _Self(msgspec.Struct, frozen=True, rename="camel"):
    store_id: str


Note = TypeVar("Note", _Self, PeerBase)


class Peers:
    """The notes of one store."""

    def __init__(self, disk: Disk, folder: Path) -> None:
        self._disk = disk
        self._folder = folder

    def store_id(self) -> str | None:
        """Return the name under which others remember this store, once it was synced."""
        found = self._read("store", _Self)
        return found.store_id if found else None

    def base(self, peer: str) -> PeerBase | None:
        """Return what this store and a peer had in common."""
        return self._read(_checked(peer), PeerBase)

    def remember(self, store_id: str, peer: str, base: PeerBase) -> None:
        """Keep what this store and a peer have in common now; the first `store_id` stays.

        Raises:
            OSError: it is not kept; what was there before still is.
        """
        self._disk.make_folder(self._folder)
        if self.store_id() is None:
            self._write("store", _Self(_checked(store_id)))
        self._write(_checked(peer), base)

    def _write(self, name: str, value: msgspec.Struct) -> None:
        self._disk.put(self._folder / f"{name}.json", msgspec.json.encode(value), mode=0o600)

    def _read(self, name: str, wanted: type[Note]) -> Note | None:
        try:
            return msgspec.json.decode(self._disk.read(self._folder / f"{name}.json"), type=wanted)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.MsgspecError) as error:
            log.warning("sync begins anew", extra={"reason": type(error).__name__})
            return None


def _checked(name: str) -> str:
    if not _STORE_ID.fullmatch(name):
        raise invalid("peer", "must be 32 hexadecimal digits")
    return name
