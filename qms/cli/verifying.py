"""`memoryctl verify-install`: whether the program is still the one that was installed."""

from pathlib import Path

import click

from qms.cli import output
from qms.cli.arguments import Verb
from qms.domain.errors import NotFoundError
from qms.files.layout import Differences, compare, read_layout
from qms.resources import installation_folder

_DIFFERENT = 1


@click.command("verify-install", cls=Verb, example="memoryctl verify-install --json")
@click.option(
    "--install-dir", metavar="DIR", help="The installation; else the one that this is of."
)
@click.option("--json", "as_json", is_flag=True, help="Print one object.")
def verify_install(install_dir: str | None, as_json: bool) -> None:
    """Compare the program with layout.json and name what differs; exit code 1 when something does.

    Every file of the installation is read. Stores, logs, backups and the configuration are not
    looked at.
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
        error = NotFoundError("this program was not put here by its installer")
        error.add_note("name an installation with --install-dir")
        raise error
    return folder


def _show(found: Differences, count: int, version: str) -> None:
    for name in Differences.__struct_fields__:
        for path in getattr(found, name):
            output.line(f"{name}: {path}")
    if found:
        output.hint("run the setup program again: it repairs what differs and keeps your data")
    else:
        output.line(f"{count:,} files of version {version}, all as they were installed")
