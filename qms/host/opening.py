"""A root opened for serving: owned, its log set up, and everything closed in order."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from qms.config.settings import Settings
from qms.domain.errors import UnavailableError
from qms.fsio.disk import Disk
from qms.runtime.build import OpenRoot, open_root
from qms.telemetry import logs

MEGABYTE = 1024 * 1024

log = logging.getLogger(__name__)


@contextmanager
def opened_root(root: Path, *, makes_admin: bool = True) -> Iterator[OpenRoot]:
    """Own a root inside this block, with the log that its configuration asks for.

    Raises:
        ConflictError: another process owns it.
        InvalidInputError: the configuration is not valid.
        UnavailableError: the root cannot be used.
    """
    logs.configure(logs.LogOptions())
    try:
        opened = _open(root, makes_admin=makes_admin)
        try:
            _follow_log_settings(opened)
            yield opened
        finally:
            opened.close()
            log.info("stopped", extra={"root": str(root)})
    finally:
        logs.reset()


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
