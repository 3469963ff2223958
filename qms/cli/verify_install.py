"""`memoryctl verify-install`: check that the installed files are unchanged."""

from pathlib import Path

import click

from qms.cli import output
from qms.cli.arguments import Verb
from qms.config.install_layout import Differences, compare, read_layout
from qms.memory.errors import NotFoundError
from qms.resources import installation_folder

_DIFFERENT = 1


@click.command("verify-install", cls=Verb, example="memoryctl verify-install --json")
@click.option("--install-dir", metavar="DIR", help="The installation [the one of this program].")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def verify_install(install_dir: str | None, as_json: bool) -> None:
    """Compare the installed files with layout.json and list differences; exit code 1 if any.

    Every file of the installation is read. Stores, logs, backups and the configuration are not
    checked.
    """
    folder = _installation(install_dir)
    layout = read_layout(folder)
    found = compare(folder, layout)
    if as_json:
        output.answer(
            {"installation": str(folder), "version": layout.version, "files": len(layout.files)}
            | {name: list(getattr(found, name)) for name in Differences.__struct_fields__}
        )
    else:
        _show(found, len(layout.files), layout.version)
    if found:
        raise click.exceptions.Exit(_DIFFERENT)


def _installation(given: str | None) -> Path:
    folder = Path(given).absolute() if given else installation_folder()
    if folder is None:
        error = NotFoundError("this program was not installed by the setup program")
        error.add_note("pass an installation with --install-dir")
        raise error
    return folder


def _show(found: Differences, count: int, version: str) -> None:
    for name in Differences.__struct_fields__:
        for path in getattr(found, name):
            output.line(f"{name}: {path}")
    if found:
        output.hint("run the setup program again: it repairs what differs and keeps your data")
    else:
        output.line(f"{count:,} files of version {version}, all unchanged")
