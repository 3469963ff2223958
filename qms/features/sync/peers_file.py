"""Keeps the common versions of a store and its sync peers in `.qms/sync/`.

Losing it loses no entry: the next sync with a peer is like the first one.
"""

import logging
import re
from pathlib import Path
from typing import TypeVar

import msgspec

from qms.disk.damage import set_aside
from qms.disk.disk import Disk
from qms.memory.errors import UNDECODABLE, invalid
from qms.store.feature_files import FeatureFile

log = logging.getLogger(__name__)

_STORE_ID = re.compile(r"[0-9a-f]{32}")


class PeerBase(msgspec.Struct, frozen=True):
    """The versions that two stores had in common after their last sync, with a shared token."""

    token: str
    versions: dict[str, str]


class _Self(msgspec.Struct, frozen=True, rename="camel"):
    store_id: str


Note = TypeVar("Note", _Self, PeerBase)


class Peers(FeatureFile):
    """The sync bases of one store, one file for each peer."""

    place = "sync"
    is_cache = True
    in_backups = False

    def __init__(self, disk: Disk, path: Path) -> None:
        self._disk = disk
        self._folder = path

    def forget(self, entry_id: str) -> None:
        """Do nothing: a base holds ids and versions of entries, and no text."""

    def store_id(self) -> str | None:
        """Return the id of this store for its peers, or None before its first sync."""
        found = self._read("store", _Self)
        return found.store_id if found else None

    def base(self, peer: str) -> PeerBase | None:
        """Return the versions that this store and a peer had in common."""
        return self._read(_checked(peer), PeerBase)

    def remember(self, store_id: str, peer: str, base: PeerBase) -> None:
        """Store the versions in common with a peer now; the first `store_id` stays.

        Raises:
            OSError: they are not stored; the versions before remain.
        """
        self._disk.make_folder(self._folder)
        if self.store_id() is None:
            self._write("store", _Self(_checked(store_id)))
        self._write(_checked(peer), base)

    def _write(self, name: str, value: msgspec.Struct) -> None:
        self._disk.put(self._folder / f"{name}.json", msgspec.json.encode(value))

    def _read(self, name: str, wanted: type[Note]) -> Note | None:
        path = self._folder / f"{name}.json"
        try:
            return msgspec.json.decode(self._disk.read(path), type=wanted)
        except FileNotFoundError:
            return None
        except OSError as error:
            log.warning("sync base not read", extra={"reason": error.strerror})
            return None
        except UNDECODABLE as error:
            set_aside(self._disk, path, error)
            return None


def _checked(name: str) -> str:
    if not _STORE_ID.fullmatch(name):
        raise invalid("peer", "must be 32 hexadecimal digits")
    return name
