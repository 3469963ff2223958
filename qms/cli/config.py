"""`memoryctl config`: check and show the configuration file."""

from pathlib import Path

import click
import msgspec

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.calls import calls
from qms.cli.target import Asked, checked_root
from qms.config.convert import Standing
from qms.config.root import CONFIGURATION_NAME
from qms.config.toml_file import parse
from qms.memory.errors import invalid


@click.group()
def config() -> None:
    """Check and show the configuration file."""


@config.command(cls=Verb, example="memoryctl config validate QuickMemoryServer.toml")
@click.argument("path", metavar="[FILE]", required=False, type=click.Path(path_type=Path))
@shared_options
def validate(asked: Asked, path: Path | None) -> None:
    """Check a configuration file, by default that of the root; exit code 2 if it is invalid."""
    path = path or checked_root(asked) / CONFIGURATION_NAME
    try:
        _, warnings = parse(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise invalid("file", f"{path} cannot be read: {error}") from error
    for one in warnings:
        if one.standing is Standing.VOID:
            raise one.as_error()
    if asked.as_json:
        output.answer({"valid": True, "warnings": msgspec.to_builtins(warnings)})
    else:
        output.line(f"{path} is valid")
    for one in warnings:
        where = f"line {one.line}: " if one.line else ""
        output.warning(f"{where}{one.field}: {one.reason}")


@config.command("show", cls=Verb, example="memoryctl config show")
@calls("getConfig")
def show_config(answer: dict[str, str]) -> None:
    """Show the current configuration, without secrets."""
    output.text(answer["text"].rstrip("\n"))
