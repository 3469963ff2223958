"""`python -m qms.platforms.setup STEP`: the steps that the Windows setup program runs."""

import faulthandler
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

import click

from qms.config.root import LOCK_PLACE
from qms.disk.disk import Disk
from qms.disk.root_lock import read_owner
from qms.memory.errors import QmsError, UnavailableError
from qms.platforms.service_control import ServiceController
from qms.platforms.setup import health_check, notes, options, windows_rights
from qms.platforms.setup.steps import Installation, Surroundings
from qms.platforms.setup.steps import purge as purge_data
from qms.telemetry.logs import ConsoleFormatter

LOG_PLACE = Path("logs") / "setup.log"
_UNEXPECTED = 1
_HANG_S = 120.0

log = logging.getLogger(__name__)

_folder_option = click.option("--install-dir", "folder", required=True, metavar="DIR")
_port_option = click.option("--port", default="", metavar="N")
_key_option = click.option("--key-file", default="", metavar="FILE")


@click.group()
def main() -> None:
    """Do one step of an installation."""


@main.command()
@_folder_option
@click.option("--listed", default="", metavar="DIR")
@click.option("--data", default="", metavar="DIR")
@_port_option
@_key_option
def prepare(folder: str, listed: str, data: str, port: str, key_file: str) -> None:
    """Check the options, stop the former version and copy its data."""
    installation, data = _installation(folder), options.bare(data)
    with _at_work(installation.data_for(data)):
        options.port_of(options.bare(port))
        options.check_key_place(_key_place(key_file), Disk())
        installation.prepare(data, options.bare(listed))


@main.command()
@_folder_option
@_port_option
@_key_option
@click.option("--result", type=click.Path(path_type=Path), metavar="FILE")
def activate(folder: str, port: str, key_file: str, result: Path | None) -> None:
    """Complete the data folder, register the service and start it."""
    installation, place = _installation(folder), _key_place(key_file)
    data = installation.data_for()
    handed: list[Path] = []

    def hand_over(key: str) -> None:
        notes.hand_over(key, place, Disk(), windows_rights.keep_private)
        handed.append(place)

    with _at_work(data):
        installation.activate(port=options.port_of(options.bare(port)), hand_over=hand_over)
        if result is not None:
            owner = read_owner(data / LOCK_PLACE)
            url = owner.url if owner else ""
            Disk().put(result, notes.result(url, handed[0] if handed else None))


@main.command()
@_folder_option
def resume(folder: str) -> None:
    """Start the former version again."""
    installation = _installation(folder)
    with _at_work(installation.data_for()):
        installation.resume()


@main.command()
@_folder_option
@click.option("--purge", is_flag=True)
def remove(folder: str, purge: bool) -> None:
    """Stop and remove the service, and with --purge its data."""
    installation = _installation(folder)
    data = installation.data_for()
    with _at_work(data):
        installation.remove()
    if purge and (left := purge_data(data)):
        with _at_work(data):  # opens the log again, which was removed with the data
            raise UnavailableError(f"{', '.join(left)} cannot be removed: it is in use")


def _installation(folder: str) -> Installation:
    from qms.platforms.windows_services import WindowsServiceManager

    manager = WindowsServiceManager()
    around = Surroundings(
        controller=ServiceController(manager),
        grant=windows_rights.grant,
        set_restarts=manager.set_restarts,
        is_healthy=health_check.becomes_healthy,
        clock=lambda: datetime.now(UTC),
        disk=Disk(),
    )
    return Installation(Path(options.bare(folder)).absolute(), around)


def _key_place(key_file: str) -> Path:
    return options.key_place(options.bare(key_file), Path.home())


@contextmanager
def _at_work(data: Path) -> Iterator[None]:
    """Log to the data folder; exit with the code of an error."""
    (data / LOG_PLACE).parent.mkdir(parents=True, exist_ok=True)
    with (data / LOG_PLACE).open("a", encoding="utf-8") as file, _logging_to(file):
        try:
            yield
        except QmsError as error:
            log.error(error.message, extra={"hints": getattr(error, "__notes__", [])})
            sys.exit(error.exit_code)
        except Exception:  # the boundary of a setup step: its log is all that is seen of it
            log.exception("unexpected")
            sys.exit(_UNEXPECTED)


@contextmanager
def _logging_to(file: TextIO) -> Iterator[None]:
    handler = logging.StreamHandler(file)
    handler.setFormatter(ConsoleFormatter())
    root = logging.getLogger()
    root.setLevel(logging.INFO)
    root.addHandler(handler)
    # A step that hangs has no window: write its stack to the log.
    faulthandler.dump_traceback_later(_HANG_S, repeat=True, file=file)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        root.removeHandler(handler)


if __name__ == "__main__":
    main()
