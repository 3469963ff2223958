"""`python -m qms.host.installing STEP`: what the setup program runs, without a window."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import click

from qms.domain.errors import QmsError, invalid
from qms.fsio.disk import Disk
from qms.fsio.lock import read_owner
from qms.host.installing import health, rights
from qms.host.installing.steps import Installation, Surroundings
from qms.host.installing.steps import purge as purge_data
from qms.host.service_control import ServiceController
from qms.runtime.root import LOCK_PLACE
from qms.telemetry.logs import ConsoleFormatter

LOG_PLACE = Path("logs") / "setup.log"
KEY_NAME = "QuickMemoryServer admin key.txt"
_UNEXPECTED = 1
_LAST_PORT = 65535

log = logging.getLogger(__name__)

_folder_option = click.option(
    "--install-dir", "folder", required=True, type=click.Path(path_type=Path), metavar="DIR"
)


@click.group()
def main() -> None:
    """Do one step of an installation."""


@main.command()
@_folder_option
@click.option("--data", default="", metavar="DIR")
def prepare(folder: Path, data: str) -> None:
    """Stop the former version and copy its data."""
    installation = _installation(folder)
    with _at_work(installation.data_for(data)):
        installation.prepare(data)


@main.command()
@_folder_option
@click.option("--port", default="", metavar="N")
@click.option("--key-file", default="", metavar="FILE")
@click.option("--result", type=click.Path(path_type=Path), metavar="FILE")
def activate(folder: Path, port: str, key_file: str, result: Path | None) -> None:
    """Settle the data, register the service and start it."""
    installation = _installation(folder)
    data = installation.data_for()
    key_place = Path(key_file).absolute() if key_file else Path.home() / KEY_NAME
    with _at_work(data):
        installation.activate(port=_port(port), hand_over=lambda key: _hand_over(key, key_place))
        if result is not None:
            _write_result(result, data, key_place)


@main.command()
@_folder_option
def resume(folder: Path) -> None:
    """Start the former version again."""
    installation = _installation(folder)
    with _at_work(installation.data_for()):
        installation.resume()


@main.command()
@_folder_option
@click.option("--purge", is_flag=True)
def remove(folder: Path, purge: bool) -> None:
    """Stop and remove the service, and with --purge its data."""
    installation = _installation(folder)
    data = installation.data_for()
    with _at_work(data):
        installation.remove()
    if purge:
        purge_data(data)


def _installation(folder: Path) -> Installation:
    from qms.host.service_manager import WindowsServiceManager

    around = Surroundings(
        controller=ServiceController(WindowsServiceManager()),
        grant=rights.grant,
        is_healthy=health.becomes_healthy,
        clock=lambda: datetime.now(UTC),
        disk=Disk(),
    )
    return Installation(folder.absolute(), around)


def _port(text: str) -> int | None:
    if text and not (text.isascii() and text.isdigit() and 0 < int(text) <= _LAST_PORT):
        raise invalid("port", f"{text} is not a port from 1 to {_LAST_PORT}")
    return int(text) if text else None


def _hand_over(key: str, place: Path) -> None:
    """Put the key where the installing user alone finds it: it is nowhere else."""
    Disk().put(place, f"{key}\r\n".encode())
    log.info("admin key handed over", extra={"file": str(place)})


def _write_result(target: Path, data: Path, key_place: Path) -> None:
    """Tell the setup program what its last page offers."""
    owner = read_owner(data / LOCK_PLACE)
    values = {"url": owner.url if owner else "", "keyFile": str(key_place)}
    lines = ["[result]", *(f"{name}={value}" for name, value in values.items()), ""]
    Disk().put(target, "\r\n".join(lines).encode())


@contextmanager
def _at_work(data: Path) -> Iterator[None]:
    """Log to the folder of the data, and end with the code of what goes wrong."""
    (data / LOG_PLACE).parent.mkdir(parents=True, exist_ok=True)
    handler = logging.FileHandler(data / LOG_PLACE, encoding="utf-8")
    handler.setFormatter(ConsoleFormatter())
    root = logging.getLogger()
    root.setLevel(logging.INFO)
    root.addHandler(handler)
    try:
        yield
    except QmsError as error:
        log.error(error.message, extra={"hints": getattr(error, "__notes__", [])})
        sys.exit(error.exit_code)
    except Exception:
        log.exception("unexpected")
        sys.exit(_UNEXPECTED)
    finally:
        root.removeHandler(handler)
        handler.close()


if __name__ == "__main__":
    main()
