"""`memoryctl restore`: bring back an archived memory or an older version."""

from typing import Any

import click

from qms.cli import output
from qms.cli.arguments import Verb
from qms.cli.calls import calls


@click.command(cls=Verb, example="memoryctl restore release-train --version 3f2a9c0b1d4e5f60")
@click.option("--version", metavar="VERSION", help="Version from `memoryctl history`.")
@click.argument("id", metavar="ID")
@calls("restoreEntry", of_entry="id")
def restore(answer: dict[str, Any]) -> None:
    """Restore a memory: the last archived version, or any version listed by history."""
    output.line(answer["entry"]["id"])
    output.note(f"restored, version {answer['version']}")
