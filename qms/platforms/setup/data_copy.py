"""Copies the data before an upgrade and restores it after a failed one.

What the newer version wrote is kept: a restore moves it beside the copy.
"""

import logging
import os
import shutil
from datetime import datetime
from pathlib import Path

import msgspec

from qms.config import toml_file
from qms.config.install_layout import SETTINGS
from qms.disk.disk import Disk
from qms.memory.errors import InvalidInputError

PREFIX = "upgrade-"
FAILED = "failed"
_DESCRIPTION = "upgrade.json"
_LOCK = "lock"
_CACHES = "indexes"
_OWN = ".qms"

log = logging.getLogger(__name__)


class Copy(msgspec.Struct, frozen=True, rename="camel"):
    """A copy of the data, and the original path of each part."""

    folder: str
    places: dict[str, str]
    """The name of each part below the copy, with its original path."""


def take(data: Path, now: datetime, disk: Disk) -> Copy:
    """Copy settings and stores of a stopped server, without indexes, which can be rebuilt."""
    folder = _backups(data) / f"{PREFIX}{now:%Y%m%dT%H%M%SZ}"
    places = _places(data)
    for name, place in places.items():
        _copy(Path(place), folder / name, disk)
    copy = Copy(str(folder), places)
    disk.make_folder(folder)
    disk.put(folder / _DESCRIPTION, msgspec.json.encode(copy))
    log.info("data copied", extra={"folder": str(folder), "parts": len(places)})
    return copy


def put_back(copy: Copy, disk: Disk) -> None:
    """Restore the copied data; move the present data to `failed` beside the copy."""
    folder = Path(copy.folder)
    for name, text in copy.places.items():
        place, failed = Path(text), folder / FAILED / name
        if not (folder / name).exists():
            continue
        if place.is_dir():
            _copy(place, failed, disk)
            _empty(place)
        elif place.exists():
            disk.make_folder(failed.parent)
            disk.copy(place, failed)
        _copy(folder / name, place, disk)
    log.info("data restored", extra={"folder": copy.folder})


def forget_older(data: Path, kept: Copy) -> None:
    """Remove the copies of earlier upgrades."""
    for folder in _backups(data).glob(f"{PREFIX}*"):
        if folder != Path(kept.folder):
            shutil.rmtree(folder, ignore_errors=True)


def _places(data: Path) -> dict[str, str]:
    places = {SETTINGS: data / SETTINGS, _OWN: data / _OWN}
    try:
        settings, _ = toml_file.parse((data / SETTINGS).read_text(encoding="utf-8-sig"))
        for slug, endpoint in settings.endpoints.items():
            places[f"stores/{slug}"] = settings.store_folder(data, endpoint)
    except (OSError, UnicodeDecodeError, InvalidInputError):
        # The service would not start with it either; its stores are in the default folder.
        log.warning("configuration not read, copying the default folder", exc_info=True)
        places["stores"] = data / "MemoryStores"
    return {name: str(place) for name, place in places.items() if place.exists()}


def _backups(data: Path) -> Path:
    try:
        settings, _ = toml_file.parse((data / SETTINGS).read_text(encoding="utf-8-sig"))
        return settings.backup_folder(data)
    except (OSError, UnicodeDecodeError, InvalidInputError):
        return data / "Backups"


def _copy(source: Path, target: Path, disk: Disk) -> None:
    if source.is_file():
        disk.make_folder(target.parent)
        disk.copy(source, target, sync=True)
        return
    for folder, folders, names in os.walk(source):
        folders[:] = [name for name in folders if name != _CACHES]
        there = target / Path(folder).relative_to(source)
        disk.make_folder(there)
        for name in names:
            if name != _LOCK:
                disk.copy(Path(folder, name), there / name, sync=True)


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != _LOCK:
            path.unlink()
