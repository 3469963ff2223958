"""A root opened for serving: owned, its log set up, and everything closed in order."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from qms.config.settings import Settings
from qms.domain.errors import UnavailableError
from qms.fsio.disk import Disk
from qms.runtime.build import OpenRoot, open_root
from qms.runtime.root import CONFIGURATION_NAME, claim_root
from qms.service.configuration import Configuration
from qms.telemetry import logs

MEGABYTE = 1024 * 1024

SWITCH_S = 0.0005
"""How long a thread may keep Python to itself while others wait for it.

A search lets go of it dozens of times; beside two busy threads each time costs this long twice, and
with Python's own 5 ms a search of 10 ms takes 180.
"""

log = logging.getLogger(__name__)


@contextmanager
def opened_root(
    root: Path, *, makes_admin: bool = True, logs_at_once: bool = False
) -> Iterator[OpenRoot]:
    """Own a root inside this block, with the log that its configuration asks for.

    With `logs_at_once`, the log is in its file before the root is opened, and says what kept the
    root from being served.

    Raises:
        ConflictError: another process owns it.
        InvalidInputError: the configuration is not valid.
        UnavailableError: the root cannot be used.
    """
    sys.setswitchinterval(SWITCH_S)
    with _logging(root / logs.LOG_PLACE if logs_at_once else None):
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
        logs.configure(logs.LogOptions(file=file))
    except OSError as error:
        raise UnavailableError(f"{file} cannot be written: {error.strerror or error}") from error
    try:
        yield
    except Exception:
        if file is not None:
            log.exception("not served")
        raise
    finally:
        logs.reset()


def first_key(root: Path) -> str | None:
    """Seed a root that is not served yet; return its admin's key, None when somebody holds one.

    Raises:
        ConflictError: another process owns it.
        InvalidInputError: the configuration is not valid.
        UnavailableError: the root cannot be used.
    """
    try:
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
        logs.configure(
            logs.LogOptions(
                level=values.log_level,
                file=folder / logs.LOG_PLACE,
                max_bytes=values.log_max_megabytes * MEGABYTE,
                max_days=values.log_max_days,
                keep=values.log_keep,
            )
        )

    apply(configuration.settings)
    configuration.subscribe(apply)


def _now() -> datetime:
    return datetime.now(UTC)
