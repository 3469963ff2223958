"""`memoryctl promote`: give a memory a longer lifespan."""

from typing import Any

import click

from qms.cli import output
from qms.cli.arguments import Verb
from qms.cli.calls import calls
from qms.cli.fields import RETENTIONS
from qms.memory.entry import Retention


@click.command(cls=Verb, example="memoryctl promote release-train")
@click.argument("id", metavar="ID")
@click.option(
    "--retention",
    type=RETENTIONS,
    default=Retention.LONG.value,
    show_default=True,
    help="New retention; long is forever.",
)
@click.option("--if-version", "ifVersion", metavar="VERSION", help="Promote only this version.")
@calls("promoteEntry", of_entry="id")
def promote(answer: dict[str, Any]) -> None:
    """Extend the retention of a memory, by default forever."""
    entry = answer["entry"]
    output.line(entry["id"])
    output.note(f"kept until {entry['ttlUtc']}" if "ttlUtc" in entry else "kept forever")
