"""Opens a root for serving: takes its lock, sets up its log, and closes both in order."""

import errno
import logging
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from qms.app.build import OpenRoot, open_root
from qms.config.configuration import Configuration
from qms.config.root import CONFIGURATION_NAME, claim_root
from qms.config.settings import Settings
from qms.disk.disk import Disk
from qms.disk.permissions import private_umask, rights_of
from qms.memory.errors import UnavailableError
from qms.telemetry import logs

MEGABYTE = 1024 * 1024

SWITCH_S = 0.0005
"""How long a thread may hold the interpreter lock while others wait for it.

A search releases it dozens of times; beside two busy threads each release costs this long twice,
and with Python's default of 5 ms a search of 10 ms takes 180 ms.
"""

log = logging.getLogger(__name__)


@contextmanager
def opened_root(
    root: Path, *, makes_admin: bool = True, logs_at_once: bool = False
) -> Iterator[OpenRoot]:
    """Own a root inside this block, with the log that its configuration asks for.

    With `logs_at_once`, the log file is open before the root is, so that it has the reason when
    the root cannot be served.

    Raises:
        ConflictError: another process owns it.
        InvalidInputError: the configuration is not valid.
        UnavailableError: the root cannot be used.
    """
    sys.setswitchinterval(SWITCH_S)
    with private_umask(), _logging(root / logs.LOG_PLACE if logs_at_once else None):
        opened = _open(root, makes_admin=makes_admin)
        try:
            _follow_log_settings(opened)
            yield opened
        finally:
            opened.close()
            log.info("stopped", extra={"root": str(root)})


@contextmanager
def _logging(file: Path | None) -> Iterator[None]:
    try:
        _configure(logs.LogOptions(file=file))
    except OSError as error:
        raise UnavailableError(f"{file} cannot be written: {error.strerror or error}") from error
    with ExitStack() as stack:
        stack.callback(logs.reset)
        if file is not None:
            stack.push(_note_failure)
        yield


def _note_failure(_kind: object, error: BaseException | None, _traceback: object) -> None:
    if isinstance(error, Exception):
        log.error("not served", exc_info=error)


def first_key(root: Path) -> str | None:
    """Seed a root that is not served; return its admin's key, or None if it has an admin.

    Raises:
        ConflictError: another process owns it.
        InvalidInputError: the configuration is not valid.
        UnavailableError: the root cannot be used.
    """
    try:
        with private_umask():
            held = claim_root(root, _now)
            try:
                return Configuration(root / CONFIGURATION_NAME, Disk(), _now).load()
            finally:
                held.release()
    except OSError as error:
        raise UnavailableError(f"{root} cannot be used: {error.strerror or error}") from error


def _open(root: Path, *, makes_admin: bool) -> OpenRoot:
    try:
        return open_root(root, disk=Disk(), clock=_now, loads=False, makes_admin=makes_admin)
    except OSError as error:
        raise UnavailableError(f"{root} cannot be used: {error.strerror or error}") from error


def _follow_log_settings(opened: OpenRoot) -> None:
    configuration, folder = opened.runtime.configuration, opened.runtime.root

    def apply(settings: Settings) -> None:
        values = settings.global_
        _configure(
            logs.LogOptions(
                level=values.log_level,
                file=folder / logs.LOG_PLACE,
                max_bytes=values.log_max_megabytes * MEGABYTE,
                max_days=values.log_max_days,
                keep=values.log_keep,
                rights=rights_of(values.group),
            )
        )

    apply(configuration.settings)
    configuration.subscribe(apply)


def _configure(options: logs.LogOptions) -> None:
    """Set up the log; on a read-only disk, without its file."""
    try:
        logs.configure(options)
    except OSError as error:
        if error.errno != errno.EROFS:
            raise
        logs.configure(msgspec.structs.replace(options, file=None))
        log.warning("no log file", extra={"reason": error.strerror})


def _now() -> datetime:
    return datetime.now(UTC)
